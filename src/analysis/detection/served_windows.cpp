#include "analysis/detection/served_windows.h"

#include <algorithm>
#include <map>
#include <optional>

#include "analysis/budget/budget_basis.h"
#include "analysis/detection/kernel_sequence.h"
#include "analysis/stages/thresholds.h"
#include "analysis/statistics/statistics.h"
#include "analysis/tracing/untraced_gpu_time.h"

namespace llmprof::analysis {
namespace {

// When the host had read the results of a batch, and when it had chosen the last token.
struct BatchEnd {
  Nanoseconds results_read = 0;
  Nanoseconds last_chosen = 0;
};

// Passes of one batch, which gives each of its sequences one token. It may take several passes and
// ends with the one whose results the host waits for.
struct PassBatch {
  Nanoseconds begin = 0;                    // start of its first pass
  std::optional<Nanoseconds> caches_moved;  // last time before that pass's end
  BatchEnd end;
  uint64_t passes = 0;
  uint64_t first_tokens = 0;  // first tokens of prompts
  uint64_t next_tokens = 0;   // later tokens of sequences
  bool takes_prompts = false;
  bool after_untraced = false;
  bool warmup = false;

  [[nodiscard]] uint64_t rows() const { return first_tokens + next_tokens; }
};

// The GPU with the most steps. Requires a step. One rank's steps represent its job.
GpuOfProcess busiest_gpu(const Stages& stages) {
  std::map<GpuOfProcess, size_t> steps;
  for (const Step& step : stages.steps) {
    const StageInstance& instance = stages.instances[step.instance.index()];
    ++steps[instance.gpu()];
  }
  return most_frequent(steps).first;
}

// Transfers of sequence caches to or from the host: copies of one size, at least one per layer,
// without a kernel between them.
struct CacheMoves {
  std::vector<bool> is_part;      // by memory operation
  std::vector<Nanoseconds> ends;  // in order
};

CacheMoves find_cache_moves(const trace::Trace& trace, const Stages& stages, GpuOfProcess gpu) {
  uint32_t layers = 0;
  for (const Step& step : stages.steps) layers = std::max(layers, step.layers);
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
    const bool own = GpuOfProcess(queue.process, queue.device) == gpu;
    if (!own || memory.kind[i] != trace::MemoryKind::copy) continue;
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

// Where sorted times fall into two groups: the last one before the widest ratio between neighbors,
// with several on each side. None if no time is clearly more than the one before.
std::optional<Nanoseconds> end_of_short(std::vector<Nanoseconds> times) {
  constexpr Nanoseconds kShortest = 1'000;  // calls are not timed more exactly
  std::ranges::sort(times);
  double widest = threshold::kClearlyMore;
  std::optional<Nanoseconds> end;
  for (size_t i = threshold::kMany; i + threshold::kMany <= times.size(); ++i) {
    const double ratio = as_double(times[i]) / as_double(std::max(times[i - 1], kShortest));
    if (ratio <= widest) continue;
    widest = ratio;
    end = times[i - 1];
  }
  return end;
}

// The host's waits for results. One that waits for a requested result does so at once; one that
// continues with the batch's next pass prepares that first. Between the waits for the rows of a
// batch, the host chooses a token; a wait right before another call belongs to that call. The
// capture's own times show what is at once, right before, and too long for a token.
class HostWaits {
 public:
  // `reads`: copies of results to the host; UINT32_MAX: none.
  HostWaits(const trace::Trace& trace, std::span<const uint32_t> reads)
      : trace_(trace), calls_(trace) {
    std::vector<Nanoseconds> until_waits;
    std::vector<Nanoseconds> between;
    std::vector<Nanoseconds> until_calls;
    for (const uint32_t copy : reads) {
      auto request = copy == UINT32_MAX ? std::nullopt : request_of(copy);
      if (!request) continue;
      if (is_pending(copy, *request) && waits_next(*request)) {
        until_waits.push_back(until_wait(*request));
        ++request->next;
      }
      for (; waits_next(*request); ++request->next) between.push_back(since_last(*request));
      if (request->next < request->calls.size()) until_calls.push_back(since_last(*request));
    }
    at_once_ = end_of_short(std::move(until_waits)).value_or(INT64_MAX);
    directly_ = end_of_short(std::move(until_calls)).value_or(0);
    std::erase_if(between, [&](Nanoseconds time) { return time <= directly_; });
    if (!between.empty()) one_token_ = threshold::kPaused * median(std::span(between));
  }

  // None if the host did not wait for this copy, or the capture has no calls.
  [[nodiscard]] std::optional<BatchEnd> after(size_t copy) const {
    auto request = request_of(copy);
    if (!request) return std::nullopt;
    BatchEnd found;
    found.results_read = request->end;
    if (is_pending(copy, *request)) {
      if (!waits_next(*request) || until_wait(*request) > at_once_) return std::nullopt;
      found.results_read = trace_.launches.end[request->calls[request->next++]];
      if (found.results_read < trace_.memory_operations.end[copy]) return std::nullopt;
    }
    found.last_chosen = last_wait(request->calls, request->next, found.results_read);
    return found;
  }

 private:
  // The call that requested a copy, and the thread's calls from there on.
  struct Request {
    Nanoseconds end = 0;
    std::span<const uint32_t> calls;
    size_t next = 0;
  };

  [[nodiscard]] std::optional<Request> request_of(size_t copy) const {
    const trace::LaunchRow asked = trace_.memory_operations.launch[copy];
    if (!asked.valid()) return std::nullopt;
    const trace::LaunchTable& launches = trace_.launches;
    const Nanoseconds end = launches.end[asked.index()];
    const std::span<const uint32_t> calls = calls_.of(launches.thread[asked.index()]);
    const auto next =
        std::ranges::lower_bound(calls, end, {}, [&](uint32_t row) { return launches.start[row]; });
    return Request{end, calls, static_cast<size_t>(next - calls.begin())};
  }
  // The call returned before the copy was done.
  [[nodiscard]] bool is_pending(size_t copy, const Request& request) const {
    return request.end < trace_.memory_operations.end[copy];
  }
  [[nodiscard]] bool waits_next(const Request& request) const {
    return request.next < request.calls.size() && is_wait(request.calls[request.next]);
  }
  [[nodiscard]] Nanoseconds until_wait(const Request& request) const {
    return trace_.launches.start[request.calls[request.next]] - request.end;
  }
  // From the thread's previous call to the next one.
  [[nodiscard]] Nanoseconds since_last(const Request& request) const {
    if (request.next == 0) return 0;
    return trace_.launches.start[request.calls[request.next]] -
           trace_.launches.end[request.calls[request.next - 1]];
  }

  [[nodiscard]] bool is_wait(uint32_t row) const {
    return trace_.api_kind(trace_.launches.api[row]) == trace::ApiKind::synchronization;
  }

  [[nodiscard]] Nanoseconds last_wait(std::span<const uint32_t> rows, size_t at,
                                      Nanoseconds results) const {
    const trace::LaunchTable& launches = trace_.launches;
    std::vector<uint32_t> waits;
    Nanoseconds before = results;
    while (at < rows.size() && is_wait(rows[at]) &&
           launches.start[rows[at]] - before < one_token_) {
      before = launches.end[rows[at]];
      waits.push_back(rows[at++]);
    }
    Nanoseconds next = at < rows.size() ? launches.start[rows[at]] : INT64_MAX;
    while (!waits.empty() && next - launches.end[waits.back()] <= directly_) {
      next = launches.start[waits.back()];
      waits.pop_back();
    }
    return waits.empty() ? results : launches.end[waits.back()];
  }

  const trace::Trace& trace_;
  CallsByThread calls_;
  Nanoseconds at_once_ = 0;
  Nanoseconds directly_ = 0;
  Nanoseconds one_token_ = INT64_MAX;
};

// Each step's last copy to the host that is not part of a cache transfer; UINT32_MAX: none.
std::vector<uint32_t> results_read(const trace::Trace& trace, const Stages& stages,
                                   const CacheMoves& moves) {
  std::vector<uint32_t> reads(stages.steps.size(), UINT32_MAX);
  for (uint32_t i = 0; i < trace.memory_operations.size(); ++i) {
    const StepId step = stages.owners.memory_step[i];
    if (step.valid() && !moves.is_part[i] && copies_to_host(trace, i)) reads[step.index()] = i;
  }
  return reads;
}

// The batches of one window.
class Grouping {
 public:
  void add(const Step& step, bool warmup, bool reads, const CacheMoves& moves) {
    if (open_.passes++ == 0) {
      open_.begin = step.start;
      const auto behind = std::ranges::lower_bound(moves.ends, step.end);
      if (behind != moves.ends.begin()) open_.caches_moved = *std::prev(behind);
    }
    open_.after_untraced = open_.after_untraced || step.after_untraced;
    open_.warmup = open_.warmup || warmup;
    const uint64_t rows = reads ? step.batch.value_or(0) : 0;
    known_ = known_ && (!reads || step.batch);
    if (step.kind == StepKind::forward) return;
    if (step.kind != StepKind::decode) {
      open_.takes_prompts = true;
      begins_ = step.kind == StepKind::mixed;
    }
    // In a mixed step, the rows are sequences in decode if its prompts continue within the batch.
    (step.kind == StepKind::prefill ? open_.first_tokens : open_.next_tokens) += rows;
  }

  void end(const BatchEnd& when) {
    known_ = known_ && !begins_ && open_.rows() > 0;
    begins_ = false;
    open_.end = when;
    batches_.push_back(open_);
    open_ = {};
  }

  // Empty if passes do not show which sequences get a token.
  std::vector<PassBatch> take() { return known_ ? std::move(batches_) : std::vector<PassBatch>(); }

 private:
  std::vector<PassBatch> batches_;
  PassBatch open_;
  bool begins_ = false;  // the open batch has prompts that have only started
  bool known_ = true;
};

// Mean time at which a token is chosen: the host processes one row after the other.
double chosen(const PassBatch& batch) {
  const auto rows = static_cast<double>(batch.rows());
  const auto took = static_cast<double>(batch.end.last_chosen - batch.end.results_read);
  return static_cast<double>(batch.end.results_read) + took * (rows + 1) / (2 * rows);
}

// The host turns to prompts when it has chosen the previous batch's tokens and moved caches. If no
// sequence was left, it may have waited for the request.
Nanoseconds prompts_begin(const PassBatch& batch, const PassBatch* before) {
  Nanoseconds start = batch.begin;
  if (before != nullptr) {
    start =
        batch.next_tokens > 0 ? before->end.last_chosen : std::max(start, before->end.last_chosen);
  }
  return std::max(start, batch.caches_moved.value_or(start));
}

std::optional<profile::ServedWindow> measure(const std::vector<PassBatch>& batches) {
  if (batches.empty()) return std::nullopt;
  profile::ServedWindow window;
  window.start = to_milliseconds(batches.front().begin);
  window.span = to_milliseconds(batches.back().end.last_chosen - batches.front().begin);
  window.batches = batches.size();
  double rows = 0;
  double prompt_time = 0;
  double token_time = 0;
  const PassBatch* before = nullptr;
  // A prompt that an earlier batch started. Not an optional: GCC 12 warns about its value.
  bool has_begun = false;
  Nanoseconds begun = 0;
  for (const PassBatch& batch : batches) {
    if (batch.after_untraced) {
      before = nullptr;
      has_begun = false;
    }
    window.passes += batch.passes;
    rows += static_cast<double>(batch.rows());
    window.sequences_max = std::max(window.sequences_max, batch.rows());
    if (before != nullptr && batch.next_tokens > before->rows()) return std::nullopt;
    if (before != nullptr && batch.next_tokens > 0 && !batch.warmup) {
      const auto tokens = static_cast<double>(batch.next_tokens);
      token_time += tokens * (chosen(batch) - chosen(*before));
      window.tokens += batch.next_tokens;
    }
    if (batch.takes_prompts) {
      const Nanoseconds start = prompts_begin(batch, before);
      if (batch.first_tokens > 0 && !batch.warmup) {
        const auto prompts = static_cast<double>(batch.first_tokens);
        prompt_time += prompts * (chosen(batch) - static_cast<double>(start));
        if (has_begun) prompt_time += static_cast<double>(start - begun);
        window.prompts += batch.first_tokens;
      }
      if (batch.first_tokens > 0) {
        has_begun = false;
      } else if (!has_begun) {
        has_begun = true;
        begun = start;
      }
    }
    before = &batch;
  }
  if (window.prompts == 0 && window.tokens == 0) return std::nullopt;
  window.sequences_mean = rows / static_cast<double>(window.batches);
  const auto mean = [](double time, uint64_t times) {
    return times == 0 ? std::nullopt
                      : std::optional(to_milliseconds(time / static_cast<double>(times)));
  };
  window.prompt = mean(prompt_time, window.prompts);
  window.token = mean(token_time, window.tokens);
  return window;
}

// Starts of explicitly opened windows; windows of an overhead budget are parts of one.
std::vector<Nanoseconds> openings(const trace::Trace& trace, trace::ProcessId process) {
  using Reason = trace::TracingReason;
  const trace::TracingTable& table = trace.tracing_changes;
  std::vector<Nanoseconds> times;
  for (const size_t row : tracing_change_rows(table, process)) {
    const bool opened =
        table.state[row] == trace::TracingState::tracing &&
        (table.reason[row] == Reason::command || table.reason[row] == Reason::arm_range);
    if (opened) times.push_back(table.time[row]);
  }
  return times;
}

}  // namespace

std::vector<profile::ServedWindow> served_windows(const trace::Trace& trace, const Stages& stages) {
  // Annotations may count parts of prompts as the sequences of a prefill.
  if (!stages.serving || !stages.confidence || stages.steps.empty()) return {};
  if (trace.launches.size() == 0) return {};
  const GpuOfProcess gpu = busiest_gpu(stages);
  const std::vector<Nanoseconds> opened = openings(trace, gpu.first);
  const CacheMoves moves = find_cache_moves(trace, stages, gpu);
  const std::vector<uint32_t> reads = results_read(trace, stages, moves);
  const HostWaits waits(trace, reads);
  std::vector<Grouping> windows(opened.size() + 1);
  for (size_t i = 0; i < stages.steps.size(); ++i) {
    const Step& step = stages.steps[i];
    const StageInstance& instance = stages.instances[step.instance.index()];
    if (instance.gpu() != gpu) continue;
    const auto behind = std::ranges::upper_bound(opened, step.start);
    Grouping& window = windows[static_cast<size_t>(behind - opened.begin())];
    const bool read = reads[i] != UINT32_MAX;
    window.add(step, instance.warmup, read, moves);
    if (const auto end = read ? waits.after(reads[i]) : std::nullopt) window.end(*end);
  }
  std::vector<profile::ServedWindow> served;
  for (Grouping& window : windows) {
    if (const auto measured = measure(window.take())) served.push_back(*measured);
  }
  return served;
}

}  // namespace llmprof::analysis
