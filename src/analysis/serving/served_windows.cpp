#include "analysis/serving/served_windows.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>

#include "analysis/budget/calls_by_thread.h"
#include "analysis/stages/thresholds.h"

namespace llmprof::analysis {
namespace {

// Caches of sequences on their way to the host or back: copies of one size, at least one for each
// layer, and no kernel in between.
struct CacheMoves {
  std::vector<bool> is_part;      // by memory operation
  std::vector<Nanoseconds> ends;  // in order
};

uint32_t layers_of(const Stages& stages) {
  uint32_t most = 0;
  for (const Step& step : stages.steps) most = std::max(most, step.layers);
  return most;
}

CacheMoves find_cache_moves(const trace::Trace& trace, const trace::ProcessId process,
                            const trace::DeviceId device, size_t layers) {
  const trace::MemoryOperationTable& memory = trace.memory_operations;
  const auto kernels_before = [&](Nanoseconds time) {
    const auto& starts = trace.kernels.start;
    return std::lower_bound(starts.begin(), starts.end(), time) - starts.begin();
  };
  CacheMoves moves;
  moves.is_part.resize(memory.size(), false);
  std::vector<size_t> run;
  const auto close = [&] {
    if (layers > 0 && run.size() >= layers) {
      for (const size_t row : run) moves.is_part[row] = true;
      moves.ends.push_back(memory.end[run.back()]);
    }
    run.clear();
  };
  for (size_t i = 0; i < memory.size(); ++i) {
    const trace::Queue& queue = trace.queues[memory.queue[i]];
    if (queue.process != process || queue.device != device) continue;
    if (memory.kind[i] != trace::MemoryKind::copy) continue;
    const bool goes_on =
        !run.empty() && memory.bytes[i] == memory.bytes[run.back()] &&
        memory.detail[i] == memory.detail[run.back()] &&
        kernels_before(memory.start[run.back()]) == kernels_before(memory.start[i]);
    if (!goes_on) close();
    run.push_back(i);
  }
  close();
  return moves;
}

// The host had the results of a batch, and had chosen the last of its tokens.
struct Awaited {
  Nanoseconds results = 0;
  Nanoseconds chosen = 0;
};

class HostWaits {
 public:
  explicit HostWaits(const trace::Trace& trace) : trace_(trace), calls_(trace) {}

  // None: the host did not wait for this copy, or the capture has no calls.
  [[nodiscard]] std::optional<Awaited> after(size_t copy) const {
    const trace::MemoryOperationTable& memory = trace_.memory_operations;
    const trace::LaunchRow asked = memory.launch[copy];
    if (!asked.valid()) return std::nullopt;
    const trace::LaunchTable& launches = trace_.launches;
    const Nanoseconds asked_end = launches.end[asked.index()];
    const auto rows = calls_.of(launches.thread[asked.index()]);
    size_t at = static_cast<size_t>(
        std::lower_bound(rows.begin(), rows.end(), asked_end,
                         [&](uint32_t row, Nanoseconds t) { return launches.start[row] < t; }) -
        rows.begin());
    Awaited found;
    if (asked_end >= memory.end[copy]) {
      found.results = asked_end;
    } else {
      if (at == rows.size() || !is_wait(rows[at])) return std::nullopt;
      if (launches.start[rows[at]] - asked_end > threshold::kAtOnce) return std::nullopt;
      if (launches.end[rows[at]] < memory.end[copy]) return std::nullopt;
      found.results = launches.end[rows[at++]];
    }
    found.chosen = last_wait(rows, at, found.results);
    return found;
  }

 private:
  [[nodiscard]] bool is_wait(uint32_t row) const {
    return trace_.api_kind(trace_.launches.api[row]) == trace::ApiKind::synchronization;
  }

  [[nodiscard]] Nanoseconds last_wait(std::span<const uint32_t> rows, size_t at,
                                      Nanoseconds results) const {
    const trace::LaunchTable& launches = trace_.launches;
    std::vector<uint32_t> waits;
    Nanoseconds before = results;
    while (at < rows.size() && is_wait(rows[at]) &&
           launches.start[rows[at]] - before < threshold::kSoon) {
      before = launches.end[rows[at]];
      waits.push_back(rows[at++]);
    }
    Nanoseconds next = at < rows.size() ? launches.start[rows[at]] : INT64_MAX;
    while (!waits.empty() && next - launches.end[waits.back()] < threshold::kDirectly) {
      next = launches.start[waits.back()];
      waits.pop_back();
    }
    return waits.empty() ? results : launches.end[waits.back()];
  }

  const trace::Trace& trace_;
  CallsByThread calls_;
};

struct Batch {
  Nanoseconds begin = 0;      // of its first pass
  Nanoseconds first_end = 0;  // likewise
  Awaited awaited;
  uint64_t passes = 0;
  uint64_t first_tokens = 0;  // of prompts
  uint64_t next_tokens = 0;   // of sequences that had one before
  bool takes_prompts = false;
  bool after_untraced = false;
  bool warmup = false;

  [[nodiscard]] uint64_t rows() const { return first_tokens + next_tokens; }
  // When a token of it is chosen, on average.
  [[nodiscard]] double chosen() const {
    const auto all = static_cast<double>(rows());
    return static_cast<double>(awaited.results) +
           static_cast<double>(awaited.chosen - awaited.results) * (all + 1) / (2 * all);
  }
};

// Batches of one window, in order; none where passes do not tell whose tokens they generate.
class Window {
 public:
  explicit Window(const CacheMoves& moves) : moves_(moves) {}

  void add(const Step& step, const StageInstance& instance, const std::optional<Awaited>& awaited,
           bool reads) {
    if (open_.passes == 0) {
      open_.begin = step.start;
      open_.first_end = step.end;
    }
    ++open_.passes;
    open_.after_untraced = open_.after_untraced || step.after_untraced;
    open_.warmup = open_.warmup || instance.warmup;
    count(step, reads);
    if (!awaited) return;
    open_.awaited = *awaited;
    close();
  }

  [[nodiscard]] std::optional<ServedWindow> measure() const {
    if (!told_ || batches_.empty()) return std::nullopt;
    ServedWindow window;
    window.start = batches_.front().begin;
    window.end = batches_.back().awaited.chosen;
    double prompt_time = 0;
    double token_time = 0;
    const Batch* before = nullptr;
    constexpr Nanoseconds kNotBegun = INT64_MIN;
    Nanoseconds begun = kNotBegun;  // a prompt of which a batch before took a part
    for (const Batch& batch : batches_) {
      if (batch.after_untraced) {
        before = nullptr;
        begun = kNotBegun;
      }
      ++window.batches;
      window.passes += batch.passes;
      window.rows += batch.rows();
      window.most_rows = std::max(window.most_rows, batch.rows());
      if (before != nullptr && batch.next_tokens > before->rows()) return std::nullopt;
      if (before != nullptr && batch.next_tokens > 0 && !batch.warmup) {
        const auto tokens = static_cast<double>(batch.next_tokens);
        token_time += tokens * (batch.chosen() - before->chosen());
        window.tokens += batch.next_tokens;
      }
      if (batch.takes_prompts) {
        const Nanoseconds start = prompts_begin(batch, before);
        if (batch.first_tokens > 0 && !batch.warmup) {
          const auto prompts = static_cast<double>(batch.first_tokens);
          prompt_time += prompts * (batch.chosen() - static_cast<double>(start));
          if (begun != kNotBegun) prompt_time += static_cast<double>(start - begun);
          window.prompts += batch.first_tokens;
        }
        if (batch.first_tokens > 0) {
          begun = kNotBegun;
        } else if (begun == kNotBegun) {
          begun = start;
        }
      }
      before = &batch;
    }
    if (window.prompts == 0 && window.tokens == 0) return std::nullopt;
    if (window.prompts > 0) window.prompt_time = prompt_time / static_cast<double>(window.prompts);
    if (window.tokens > 0) window.token_time = token_time / static_cast<double>(window.tokens);
    return window;
  }

 private:
  void count(const Step& step, bool reads) {
    const uint64_t rows = reads ? step.batch.value_or(0) : 0;
    if (reads && !step.batch) told_ = false;
    switch (step.kind) {
      case StepKind::decode:
        open_.next_tokens += rows;
        break;
      case StepKind::prefill:
        open_.takes_prompts = true;
        begins_ = false;
        open_.first_tokens += rows;
        break;
      case StepKind::mixed:
        // Tokens of sequences in decode, if the prompts in it go on within the batch.
        open_.takes_prompts = true;
        begins_ = true;
        open_.next_tokens += rows;
        break;
      case StepKind::forward:
        break;
    }
  }

  void close() {
    if (begins_ || open_.rows() == 0) told_ = false;
    begins_ = false;
    batches_.push_back(open_);
    open_ = {};
  }

  // The host turns to prompts when it has chosen the tokens of the batch before and moved caches.
  // If no sequence was left, it may have waited for the request.
  [[nodiscard]] Nanoseconds prompts_begin(const Batch& batch, const Batch* before) const {
    Nanoseconds start = batch.begin;
    if (before != nullptr) {
      start =
          batch.next_tokens > 0 ? before->awaited.chosen : std::max(start, before->awaited.chosen);
    }
    const auto behind = std::lower_bound(moves_.ends.begin(), moves_.ends.end(), batch.first_end);
    return behind == moves_.ends.begin() ? start : std::max(start, *std::prev(behind));
  }

  const CacheMoves& moves_;
  std::vector<Batch> batches_;
  Batch open_;
  bool begins_ = false;  // the open batch has prompts of which only the begin was seen
  bool told_ = true;
};

// Of windows that somebody opened; those of a budget are parts of one.
std::vector<Nanoseconds> openings(const trace::Trace& trace, trace::ProcessId process) {
  using Reason = trace::CollectionReason;
  const trace::CollectionTable& table = trace.collection;
  std::vector<Nanoseconds> times;
  for (size_t i = 0; i < table.size(); ++i) {
    const bool opened =
        table.process[i] == process && table.state[i] == trace::CollectionState::tracing &&
        (table.reason[i] == Reason::command || table.reason[i] == Reason::arm_range);
    if (opened) times.push_back(table.time[i]);
  }
  std::sort(times.begin(), times.end());
  return times;
}

using GpuOfProcess = std::pair<trace::ProcessId, trace::DeviceId>;

// That most steps ran on: those of one rank are those of its job.
GpuOfProcess busiest(const Stages& stages) {
  std::map<GpuOfProcess, size_t> steps;
  for (const Step& step : stages.steps) {
    const StageInstance& instance = stages.instances[step.instance.index()];
    ++steps[{instance.process, instance.device}];
  }
  return std::max_element(steps.begin(), steps.end(),
                          [](const auto& a, const auto& b) { return a.second < b.second; })
      ->first;
}

// The last copy to the host of each step that moves no cache; none: UINT32_MAX.
std::vector<uint32_t> results_read(const trace::Trace& trace, const Stages& stages,
                                   const CacheMoves& moves) {
  std::vector<uint32_t> reads(stages.steps.size(), UINT32_MAX);
  for (size_t i = 0; i < trace.memory_operations.size(); ++i) {
    const StepId step = stages.owners.memory_step[i];
    if (!step.valid() || moves.is_part[i]) continue;
    if (trace.strings[trace.memory_operations.detail[i]] != "Device-to-Host") continue;
    reads[step.index()] = static_cast<uint32_t>(i);
  }
  return reads;
}

}  // namespace

std::vector<ServedWindow> served_windows(const trace::Trace& trace, const Stages& stages) {
  // What annotations call the sequences of a prefill may be parts of prompts.
  if (!stages.serving || !stages.confidence || stages.steps.empty()) return {};
  if (trace.launches.size() == 0) return {};
  const auto [process, device] = busiest(stages);
  const CacheMoves moves = find_cache_moves(trace, process, device, layers_of(stages));
  const std::vector<uint32_t> reads = results_read(trace, stages, moves);
  const std::vector<Nanoseconds> opened = openings(trace, process);
  const HostWaits waits(trace);
  std::map<std::ptrdiff_t, Window> windows;
  for (size_t i = 0; i < stages.steps.size(); ++i) {
    const Step& step = stages.steps[i];
    const StageInstance& instance = stages.instances[step.instance.index()];
    if (instance.process != process || instance.device != device) continue;
    const auto number = std::upper_bound(opened.begin(), opened.end(), step.start) - opened.begin();
    const bool read = reads[i] != UINT32_MAX;
    Window& window = windows.try_emplace(number, moves).first->second;
    window.add(step, instance, read ? waits.after(reads[i]) : std::nullopt, read);
  }
  std::vector<ServedWindow> served;
  for (const auto& [number, window] : windows) {
    if (const auto measured = window.measure()) served.push_back(*measured);
  }
  return served;
}

}  // namespace llmprof::analysis
