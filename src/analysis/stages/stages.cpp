#include "analysis/stages/stages.h"

#include <algorithm>
#include <array>
#include <span>

#include "analysis/stages/measure_stages.h"
#include "analysis/stages/thresholds.h"

namespace llmprof::analysis {
namespace {

template <class IdType>
void follow(const std::vector<uint32_t>& place,
            std::initializer_list<std::vector<IdType>*> columns) {
  for (std::vector<IdType>* ids : columns) {
    for (IdType& id : *ids) {
      if (id.valid()) id = IdType(place[id.index()]);
    }
  }
}

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

void Stages::renumber_instances(const std::vector<uint32_t>& place) {
  follow(place, {&owners.kernel_instance, &owners.memory_instance, &owners.replay_instance});
  for (Step& step : steps) step.instance = InstanceId(place[step.instance.index()]);
}

void Stages::renumber_steps(const std::vector<uint32_t>& place) {
  follow(place, {&owners.kernel_step, &owners.memory_step, &owners.replay_step});
}

void Stages::count_steps() {
  for (StageInstance& instance : instances) instance.step_count = 0;
  for (uint32_t i = 0; i < steps.size(); ++i) {
    StageInstance& instance = instances[steps[i].instance.index()];
    if (instance.step_count++ == 0) instance.first_step = i;
  }
}

profile::StageTracing stage_tracing(const Stages& stages, uint32_t stage) {
  profile::StageTracing result;
  Nanoseconds wall = 0;
  Nanoseconds untraced = 0;  // GPUs may have worked unseen
  for (const StageInstance& instance : stages.instances) {
    if (instance.stage != stage || instance.warmup) continue;
    wall += instance.wall();
    result.steps_traced += instance.step_count;
    result.steps_all += instance.all_steps();
    for (const auto& unseen :
         stages.untraced.within(instance.process, instance.device, instance.start, instance.end)) {
      untraced += unseen.end - unseen.start;
    }
  }
  // Arming takes some of a stage's first microseconds, but all its work is recorded.
  const bool whole = as_double(untraced) <= threshold::kSmallPart * as_double(wall);
  result.share_of_steps = result.steps_all > 0 ? share(result.steps_traced, result.steps_all)
                          : whole              ? std::optional(profile::Share{1})
                                               : std::nullopt;
  return result;
}

void GpuWork::add(Kind kind, Nanoseconds start, Nanoseconds end) {
  switch (kind) {
    case Kind::kernel:
      ++kernel_count;
      kernel_sum += end - start;
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
  busy += std::max<Nanoseconds>(0, end - std::max(start, last_end));
  last_end = std::max(last_end, end);
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

// Measured by bench/detection/calibrate.py on captures not used for any rule: the share of correct
// ones, (right + 1) / (captures + 2). tests/end_to_end/test_detected_models.py compares.
double measured_confidence(ConfidenceLevel level) {
  switch (level) {
    case ConfidenceLevel::high:
      return 0.90;  // 8 of 8
    case ConfidenceLevel::medium:
      return 0.75;  // 5 of 6
    case ConfidenceLevel::low:
      return 0.71;  // 4 of 5
  }
  return 0;
}

}  // namespace llmprof::analysis
