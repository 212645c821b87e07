#include "analysis/requests/batches.h"

#include <algorithm>
#include <map>

#include "analysis/detection/kernel_sequence.h"
#include "analysis/tracing/untraced_gpu_time.h"

namespace llmprof::analysis {
namespace {

// The GPU with the most steps. Requires a step.
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

// By step: the last call that launched its work; none if unknown.
std::vector<trace::LaunchRow> last_launches(const trace::Trace& trace, const Stages& stages) {
  std::vector<trace::LaunchRow> last(stages.steps.size());
  const auto note = [&](const auto& table, const std::vector<StepId>& steps) {
    for (size_t i = 0; i < table.size(); ++i) {
      const trace::LaunchRow row = i < table.launch.size() ? table.launch[i] : trace::LaunchRow();
      if (!steps[i].valid() || !row.valid()) continue;
      trace::LaunchRow& known = last[steps[i].index()];
      const auto& starts = trace.launches.start;
      if (!known.valid() || starts[known.index()] < starts[row.index()]) known = row;
    }
  };
  note(trace.kernels, stages.owners.kernel_step);
  note(trace.graph_replays, stages.owners.replay_step);
  return last;
}

// Spreads the bits of a number (splitmix64).
uint64_t scattered(uint64_t value) {
  value += 0x9e3779b97f4a7c15;
  value = (value ^ (value >> 30U)) * 0xbf58476d1ce4e5b9;
  value = (value ^ (value >> 27U)) * 0x94d049bb133111eb;
  return value ^ (value >> 31U);
}

// By step: whether any of its work is from a CUDA graph.
std::vector<bool> replayed_steps(const trace::Trace& trace, const Stages& stages) {
  std::vector<bool> replayed(stages.steps.size(), false);
  const auto note = [&](StepId step) {
    if (step.valid()) replayed[step.index()] = true;
  };
  for (size_t i = 0; i < trace.kernels.graph.size(); ++i) {
    if (trace.kernels.graph[i] != 0) note(stages.owners.kernel_step[i]);
  }
  for (const StepId step : stages.owners.replay_step) note(step);
  return replayed;
}

// By step: a hash of its kernels and their shapes, in any order; of whole replays, of their graph.
std::vector<uint64_t> launches_of_steps(const trace::Trace& trace, const Stages& stages) {
  std::vector<uint64_t> hashes(stages.steps.size(), 0);
  const auto note = [&](StepId step, uint64_t first, uint64_t second) {
    if (step.valid()) hashes[step.index()] += scattered(scattered(first) + second);
  };
  for (size_t i = 0; i < trace.kernels.size(); ++i) {
    note(stages.owners.kernel_step[i], trace.kernels.name[i].index(),
         trace.kernels.shape[i].index());
  }
  for (size_t i = 0; i < trace.graph_replays.size(); ++i) {
    note(stages.owners.replay_step[i], UINT64_MAX, trace.graph_replays.graph[i]);
  }
  return hashes;
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

// What was recorded around a pass.
struct Recorded {
  uint32_t window = 0;  // number of recording windows that somebody had opened before it
  bool after_untraced = false;
};

// Collects passes until the end of their batch is known.
class BatchesInOrder {
 public:
  BatchesInOrder(EngineBatches& into, const CacheMoves& moves) : into_(into), moves_(moves) {}

  // Untraced time before the pass hides the end of the open batch.
  void add(const Step& step, BatchPass pass, bool warmup, const Recorded& recorded) {
    if (open_.passes > 0 && (recorded.window != open_.window || recorded.after_untraced)) drop();
    if (open_.passes++ == 0) {
      open_.begin = step.start;
      open_.window = recorded.window;
      const auto behind = std::ranges::lower_bound(moves_.ends, step.end);
      if (behind != moves_.ends.begin()) open_.caches_moved = *std::prev(behind);
    }
    open_.after_untraced = open_.after_untraced || recorded.after_untraced;
    open_.warmup = open_.warmup || warmup;
    into_.passes.push_back(pass);
  }

  void end(const BatchEnd& when) {
    open_.end = when;
    into_.batches.push_back(open_);
    restart();
  }

  // The end of the open batch was not recorded.
  void drop() {
    into_.passes.resize(open_.first_pass);
    restart();
  }

 private:
  void restart() {
    open_ = {};
    open_.first_pass = static_cast<uint32_t>(into_.passes.size());
  }

  EngineBatches& into_;
  const CacheMoves& moves_;
  EngineBatch open_;
};

BatchPass pass_of(const Stages& stages, uint32_t row, bool replayed) {
  const Step& step = stages.steps[row];
  BatchPass pass;
  pass.step = row;
  pass.kind = step.kind;
  pass.start = step.work.any ? step.work.first_start : step.start;
  pass.end = step.work.any ? step.work.last_end : step.end;
  pass.busy = step.work.busy;
  pass.rows = step.batch;
  pass.tokens = step.tokens;
  pass.prompt_tokens = step.phases.prefill.tokens;
  pass.replayed = replayed;
  return pass;
}

// Calls visit(row, pass, recorded) for each step of the engine's GPU.
template <class Visit>
void each_pass(const trace::Trace& trace, const Stages& stages, GpuOfProcess gpu,
               const Visit& visit) {
  const std::vector<Nanoseconds> opened = openings(trace, gpu.first);
  const std::vector<bool> replayed = replayed_steps(trace, stages);
  const std::vector<uint64_t> launches = launches_of_steps(trace, stages);
  std::optional<Nanoseconds> before;  // end of the last pass
  for (uint32_t row = 0; row < stages.steps.size(); ++row) {
    const Step& step = stages.steps[row];
    if (stages.instances[step.instance.index()].gpu() != gpu) continue;
    const auto behind = std::ranges::upper_bound(opened, step.start);
    BatchPass pass = pass_of(stages, row, replayed[row]);
    pass.launches = launches[row];
    const bool untraced =
        before && *before < pass.start &&
        !stages.untraced.within(gpu.first, gpu.second, *before, pass.start).empty();
    before = pass.end;
    visit(
        row, pass,
        Recorded{static_cast<uint32_t>(behind - opened.begin()), step.after_untraced || untraced});
  }
}

void find_by_waits(const trace::Trace& trace, const Stages& stages, EngineBatches& found) {
  const CacheMoves moves = find_cache_moves(trace, stages, found.gpu);
  const std::vector<uint32_t> reads = results_read(trace, stages, moves);
  const std::vector<trace::LaunchRow> launches = last_launches(trace, stages);
  const HostWaits waits(trace, reads);
  BatchesInOrder batches(found, moves);
  bool pending = false;  // a pass of the open batch has results
  each_pass(trace, stages, found.gpu, [&](uint32_t row, BatchPass pass, const Recorded& recorded) {
    const Step& step = stages.steps[row];
    const bool read = reads[row] != UINT32_MAX;
    if (!read) pass.rows = 0;
    if (recorded.after_untraced) pending = false;
    batches.add(step, pass, stages.instances[step.instance.index()].warmup, recorded);
    pending = pending || read;
    // Behind a part of a prompt, the host may wait for the results of the passes before it.
    const auto end = read      ? waits.after(reads[row])
                     : pending ? waits.after(launches[row], pass.end)
                               : std::nullopt;
    if (!end) return;
    batches.end(*end);
    pending = false;
  });
  batches.drop();
}

void find_by_steps(const trace::Trace& trace, const Stages& stages, EngineBatches& found) {
  const CacheMoves none;
  BatchesInOrder batches(found, none);
  each_pass(trace, stages, found.gpu,
            [&](uint32_t row, const BatchPass& pass, const Recorded& recorded) {
              const Step& step = stages.steps[row];
              batches.add(step, pass, stages.instances[step.instance.index()].warmup, recorded);
              batches.end({step.end, step.end});
            });
}

}  // namespace

std::optional<uint64_t> EngineBatches::rows_of(const EngineBatch& batch) const {
  uint64_t rows = 0;
  for (const BatchPass& pass : passes_of(batch)) {
    if (pass.kind == StepKind::forward) continue;
    if (!pass.rows) return std::nullopt;
    rows += *pass.rows;
  }
  return rows;
}

EngineBatches engine_batches(const trace::Trace& trace, const Stages& stages) {
  EngineBatches found;
  if (stages.steps.empty()) return found;
  found.gpu = busiest_gpu(stages);
  // Annotations mark what the engine itself calls a step.
  found.by_waits = stages.serving && stages.confidence && trace.launches.size() > 0;
  if (found.by_waits) find_by_waits(trace, stages, found);
  if (found.batches.empty()) {
    found.by_waits = false;
    find_by_steps(trace, stages, found);
  }
  return found;
}

}  // namespace llmprof::analysis
