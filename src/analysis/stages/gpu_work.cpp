#include <algorithm>
#include <array>
#include <span>

#include "analysis/stages/measure_stages.h"

namespace llmprof::analysis {
namespace {

// One of the trace's tables, walked in order of start.
struct Walk {
  GpuWork::Kind kind;
  std::span<const Nanoseconds> start;
  std::span<const Nanoseconds> end;
  std::span<const InstanceId> instance;
  std::span<const StepId> step;
  size_t next = 0;

  // Start of the next row; INT64_MAX if there is none.
  [[nodiscard]] Nanoseconds time() const { return next == start.size() ? INT64_MAX : start[next]; }

  void add_until(Nanoseconds limit, Stages& stages) {
    for (; next < start.size() && start[next] <= limit; ++next) {
      if (!instance[next].valid()) continue;
      stages.instances[instance[next].index()].work.add(kind, start[next], end[next]);
      if (!step[next].valid()) continue;
      stages.steps[step[next].index()].work.add(kind, start[next], end[next]);
    }
  }
};

}  // namespace

void GpuWork::add(Kind kind, Nanoseconds start, Nanoseconds end) {
  // Time that [start, end) adds to a union that ends at `reached`.
  const auto extend = [&](Nanoseconds& sum, Nanoseconds& reached) {
    sum += std::max<Nanoseconds>(0, end - std::max(start, reached));
    reached = std::max(reached, end);
  };
  switch (kind) {
    case Kind::kernel:
      ++kernel_count;
      kernel_sum += end - start;
      extend(kernel_busy, last_kernel_end);
      break;
    case Kind::memory:
      memory_sum += end - start;
      break;
    case Kind::replay:
      hidden_graph_sum += end - start;
      break;
  }
  if (!any) first_start = last_end = start;
  any = true;
  extend(busy, last_end);
}

void meter_work(const trace::Trace& trace, Stages& stages) {
  for (StageInstance& instance : stages.instances) instance.work = {};
  for (Step& step : stages.steps) step.work = {};
  const auto walk = [](GpuWork::Kind kind, const auto& table, const auto& instances,
                       const auto& steps) {
    return Walk{kind, table.start, table.end, instances, steps};
  };
  const WorkOwners& own = stages.owners;
  std::array walks = {
      walk(GpuWork::Kind::kernel, trace.kernels, own.kernel_instance, own.kernel_step),
      walk(GpuWork::Kind::memory, trace.memory_operations, own.memory_instance, own.memory_step),
      walk(GpuWork::Kind::replay, trace.graph_replays, own.replay_instance, own.replay_step)};
  while (true) {
    // The table with the earliest start continues until another one has an earlier start.
    Walk& behind = *std::ranges::min_element(walks, {}, &Walk::time);
    if (behind.time() == INT64_MAX) return;
    Nanoseconds limit = INT64_MAX;
    for (const Walk& other : walks) {
      if (&other != &behind) limit = std::min(limit, other.time());
    }
    behind.add_until(limit, stages);
  }
}

}  // namespace llmprof::analysis
