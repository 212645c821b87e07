#include "analysis/stages/gpu_work.h"

#include <algorithm>
#include <span>

namespace llmprof::analysis {
namespace {

// What [start, end) adds to a union that reaches to `reached`.
Nanoseconds uncovered(Nanoseconds start, Nanoseconds end, Nanoseconds reached) {
  return std::max<Nanoseconds>(0, end - std::max(start, reached));
}

enum class WorkKind : uint8_t { kernel, memory, replay };

// One of the trace's tables, walked in the order of starts.
struct Walk {
  std::span<const Nanoseconds> start;
  std::span<const Nanoseconds> end;
  std::span<const InstanceId> instance;
  std::span<const StepId> step;
  WorkKind kind;
  size_t next = 0;

  [[nodiscard]] bool done() const { return next == start.size(); }
  [[nodiscard]] Nanoseconds time() const { return done() ? INT64_MAX : start[next]; }

  void meter_until(Nanoseconds limit, MeteredWork& metered) {
    switch (kind) {
      case WorkKind::kernel:
        return add_until<&GpuWorkMeter::add_kernel>(limit, metered);
      case WorkKind::memory:
        return add_until<&GpuWorkMeter::add_memory>(limit, metered);
      case WorkKind::replay:
        return add_until<&GpuWorkMeter::add_replay>(limit, metered);
    }
  }

 private:
  template <void (GpuWorkMeter::*kAdd)(Nanoseconds, Nanoseconds)>
  void add_until(Nanoseconds limit, MeteredWork& metered) {
    for (; next < start.size() && start[next] <= limit; ++next) {
      if (!instance[next].valid()) continue;
      (metered.instances[instance[next].index()].*kAdd)(start[next], end[next]);
      if (step[next].valid()) (metered.steps[step[next].index()].*kAdd)(start[next], end[next]);
    }
  }
};

}  // namespace

void GpuWorkMeter::add_busy(Nanoseconds start, Nanoseconds end) {
  if (!any_) {
    any_ = true;
    first_start_ = start;
    last_end_ = start;
  }
  work_.busy += uncovered(start, end, last_end_);
  last_end_ = std::max(last_end_, end);
}

void GpuWorkMeter::add_kernel(Nanoseconds start, Nanoseconds end) {
  ++work_.kernel_count;
  work_.kernel_sum += end - start;
  work_.kernel_busy += uncovered(start, end, kernel_end_);
  kernel_end_ = std::max(kernel_end_, end);
  add_busy(start, end);
}

void GpuWorkMeter::add_memory(Nanoseconds start, Nanoseconds end) {
  work_.memory_sum += end - start;
  add_busy(start, end);
}

void GpuWorkMeter::add_replay(Nanoseconds start, Nanoseconds end) {
  work_.hidden_graph_sum += end - start;
  add_busy(start, end);
}

MeteredWork meter_work(const trace::Trace& trace, const Stages& stages) {
  MeteredWork metered;
  metered.instances.resize(stages.instances.size());
  metered.steps.resize(stages.steps.size());
  const WorkOwners& owners = stages.owners;
  Walk kernels{trace.kernels.start, trace.kernels.end, owners.kernel_instance, owners.kernel_step,
               WorkKind::kernel};
  Walk memory{trace.memory_operations.start, trace.memory_operations.end, owners.memory_instance,
              owners.memory_step, WorkKind::memory};
  Walk replays{trace.graph_replays.start, trace.graph_replays.end, owners.replay_instance,
               owners.replay_step, WorkKind::replay};
  while (!kernels.done() || !memory.done() || !replays.done()) {
    // The table that is behind goes on until another one has the earlier start.
    Walk* behind = &kernels;
    if (memory.time() < behind->time()) behind = &memory;
    if (replays.time() < behind->time()) behind = &replays;
    Nanoseconds limit = INT64_MAX;
    for (const Walk* other : {&kernels, &memory, &replays}) {
      if (other != behind) limit = std::min(limit, other->time());
    }
    behind->meter_until(limit, metered);
  }
  return metered;
}

}  // namespace llmprof::analysis
