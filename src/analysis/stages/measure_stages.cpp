#include "analysis/stages/measure_stages.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>

#include "analysis/stages/thresholds.h"
#include "base/units.h"

namespace llmprof::analysis {
namespace {

// Orders `rows` by `key`, which takes a row, and returns each row's new place; empty if none had to
// move.
template <class Row, class Key>
std::vector<uint32_t> put_in_order(std::vector<Row>& rows, const Key& key) {
  std::vector<uint32_t> order(rows.size());
  std::iota(order.begin(), order.end(), 0U);
  if (std::ranges::is_sorted(order, {}, key)) return {};
  std::ranges::stable_sort(order, {}, key);
  std::vector<uint32_t> place(rows.size());
  std::vector<Row> ordered;
  ordered.reserve(rows.size());
  for (const uint32_t row : order) {
    place[row] = static_cast<uint32_t>(ordered.size());
    ordered.push_back(std::move(rows[row]));
  }
  rows = std::move(ordered);
  return place;
}

void order_instances(Stages& stages) {
  const auto place = put_in_order(stages.instances, [&](uint32_t row) {
    const StageInstance& instance = stages.instances[row];
    return std::tuple(instance.start, instance.process, instance.device, instance.stage);
  });
  if (!place.empty()) stages.renumber_instances(place);
}

void order_steps(Stages& stages) {
  const auto place = put_in_order(stages.steps, [&](uint32_t row) {
    return std::pair(stages.steps[row].instance, stages.steps[row].start);
  });
  if (!place.empty()) stages.renumber_steps(place);
  stages.count_steps();
}

// By first occurrence; stages without an instance come last.
void order_stages(Stages& stages) {
  std::vector<size_t> first(stages.stages.size(), SIZE_MAX);
  for (size_t i = stages.instances.size(); i-- > 0;) first[stages.instances[i].stage] = i;
  const auto place = put_in_order(stages.stages, [&](uint32_t row) { return first[row]; });
  if (place.empty()) return;
  for (StageInstance& instance : stages.instances) instance.stage = place[instance.stage];
  for (NotedPart& note : stages.notes) note.stage = place[note.stage];
}

bool untraced_within(const Stages& stages, const StageInstance& instance, Nanoseconds from,
                     Nanoseconds to) {
  return !stages.untraced.within(instance.process, instance.device, from, to).empty();
}

// A tracing window ended within the step, and another started: it has work of two passes with
// untraced time between them.
bool holds_untraced_time(const Stages& stages, const StageInstance& instance, const GpuWork& step) {
  const auto windows =
      stages.untraced.within(instance.process, instance.device, step.first_start, step.last_end);
  return std::ranges::any_of(windows, [&](const UntracedGpuTime::Window& window) {
    return window.start > step.first_start && window.end < step.last_end;
  });
}

// No stage starts before the GPU finished the work launched before recording. Work recorded until
// then belongs to no stage.
void start_after_unrecorded_work(const trace::Trace& trace, Stages& stages,
                                 Diagnostics& diagnostics) {
  std::vector<bool> moved(stages.instances.size(), false);
  Nanoseconds longest = 0;
  for (size_t i = 0; i < stages.instances.size(); ++i) {
    StageInstance& instance = stages.instances[i];
    const auto free = stages.untraced.beginning(instance.process, instance.device);
    if (!free || instance.start >= *free || instance.work.last_end <= *free) continue;
    longest = std::max(longest, *free - instance.start);
    instance.start = *free;
    moved[i] = true;
  }
  const auto count = std::count(moved.begin(), moved.end(), true);
  if (count == 0) return;
  stages.owners.each(trace, [&](const auto& table, auto& instances, auto& steps) {
    for (size_t i = 0; i < table.size(); ++i) {
      if (!instances[i].valid() || !moved[instances[i].index()]) continue;
      if (table.end[i] > stages.instances[instances[i].index()].start) continue;
      instances[i] = InstanceId();
      steps[i] = StepId();
    }
  });
  meter_work(trace, stages);
  diagnostics.info(
      "unrecorded_work_before",
      fmt::format("the first stages of the capture start when the GPU had finished earlier work, "
                  "launched before recording started; up to {:.3f} ms before that are not counted",
                  static_cast<double>(longest) / kNanosecondsPerMillisecond),
      static_cast<uint64_t>(count));
}

// The engine prepares a step while the GPU still works on the previous one: that wait is not this
// step's time. Neither is the time before the capture's first work, if it exceeds a quarter of the
// GPU time (a profiler starts, an unrecorded step ends). Instances are in order.
void start_after_the_step_before(Stages& stages) {
  std::map<GpuOfProcess, Nanoseconds> reached;
  for (StageInstance& instance : stages.instances) {
    if (!instance.work.any) continue;
    const auto [begun, ended] = std::pair(instance.work.first_start, instance.work.last_end);
    const auto [before, first] = reached.try_emplace(instance.gpu(), ended);
    if (!first) {
      instance.start = std::max(instance.start, std::min(before->second, begun));
      before->second = std::max(before->second, ended);
    } else if (stages.stages[instance.stage].source != StageSource::detected &&
               threshold::kQuarter * (begun - instance.start) > ended - begun) {
      instance.start = begun;
      instance.traced_in_part = true;
    }
    // Nor is the wait for untraced steps; when they ended is unknown.
    if (untraced_within(stages, instance, instance.start, begun)) {
      instance.start = begun;
      if (instance.step_count > 0) stages.steps[instance.first_step].after_untraced = true;
    }
  }
}

void set_instance_windows(Stages& stages, Diagnostics& diagnostics) {
  uint64_t extended = 0;
  Nanoseconds furthest = 0;
  for (StageInstance& instance : stages.instances) {
    const GpuWork& work = instance.work;
    const bool detected = stages.stages[instance.stage].source == StageSource::detected;
    if (instance.range_end == trace::kOpenEnd) {
      instance.open_ended = true;
      instance.range_end = work.any ? work.last_end : instance.start;
    }
    instance.end = std::max(instance.range_end, instance.start);
    if (work.any) {
      instance.start = std::min(instance.start, work.first_start);
      instance.end = std::max(instance.end, work.last_end);
    }
    if (detected) {
      instance.range_end = instance.end;
    } else if (instance.end > instance.range_end) {
      ++extended;
      furthest = std::max(furthest, instance.end - instance.range_end);
    }
  }
  if (extended > 0) {
    diagnostics.info(
        "stage_extended",
        fmt::format("stage ranges that closed while their GPU work still ran; they are extended to "
                    "their last GPU work, up to {:.3f} ms longer",
                    static_cast<double>(furthest) / kNanosecondsPerMillisecond),
        extended);
  }
}

void set_step_windows(Stages& stages) {
  for (const StageInstance& instance : stages.instances) {
    const bool on_gpu = instance.work.kernel_count > 0 || instance.work.busy > 0;
    Nanoseconds reached = instance.start;
    for (uint32_t i = 0; i < instance.step_count; ++i) {
      Step& step = stages.steps[instance.first_step + i];
      const GpuWork& work = step.work;
      if (on_gpu) {
        if (work.any && (untraced_within(stages, instance, reached, work.first_start) ||
                         holds_untraced_time(stages, instance, work))) {
          step.after_untraced = true;
        }
        step.start = step.after_untraced ? work.first_start : reached;
        step.end = work.any ? std::max(step.start, work.last_end) : reached;
      } else {
        step.end = std::max(step.start, step.end);
      }
      reached = step.end;
    }
  }
}

void summarize_stage(Stages& stages, size_t index) {
  std::vector<Nanoseconds> wall;
  std::vector<Nanoseconds> kernel_sum;
  std::vector<Nanoseconds> busy;
  std::vector<Nanoseconds> kernel_count;
  std::vector<Nanoseconds> step_wall;
  for (const StageInstance& instance : stages.instances) {
    if (instance.stage != index || instance.warmup) continue;
    wall.push_back(instance.wall());
    kernel_sum.push_back(instance.work.kernel_sum);
    busy.push_back(instance.work.busy);
    kernel_count.push_back(static_cast<Nanoseconds>(instance.work.kernel_count));
    for (uint32_t i = 0; i < instance.step_count; ++i) {
      const Step& step = stages.steps[instance.first_step + i];
      if (!step.after_untraced) step_wall.push_back(step.wall());
    }
  }
  Stage& stage = stages.stages[index];
  stage.wall = summarize(std::move(wall));
  stage.kernel_sum = summarize(std::move(kernel_sum));
  stage.busy = summarize(std::move(busy));
  stage.kernel_count = summarize(std::move(kernel_count));
  stage.step_wall = summarize(std::move(step_wall));
}

}  // namespace

void measure_stages(const trace::Trace& trace, Stages& stages, Diagnostics& diagnostics) {
  stages.owners.resize(trace);
  stages.untraced = UntracedGpuTime(trace);
  order_instances(stages);
  order_steps(stages);
  order_stages(stages);
  meter_work(trace, stages);
  start_after_unrecorded_work(trace, stages, diagnostics);
  if (stages.serving) start_after_the_step_before(stages);
  set_instance_windows(stages, diagnostics);
  set_step_windows(stages);
  order_instances(stages);  // their starts may have moved
  order_steps(stages);
  find_traced_parts(stages);
  flag_warmup(trace, stages, diagnostics);
  exclude_traced_parts(stages, diagnostics);
  flag_cut_off(trace, stages, diagnostics);
  flag_only_first(trace, stages, diagnostics);
  for (size_t i = 0; i < stages.stages.size(); ++i) summarize_stage(stages, i);
}

void measure_again(const trace::Trace& trace, Stages& stages) {
  meter_work(trace, stages);
  for (size_t i = 0; i < stages.stages.size(); ++i) summarize_stage(stages, i);
}

TokenWalls token_walls(const Stages& stages) {
  TokenWalls walls;
  for (const Step& step : stages.steps) {
    // An engine's step gives every sequence in it one token.
    const bool tokens = stages.serving && step.kind == StepKind::decode && !step.after_untraced;
    if (!tokens || stages.instances[step.instance.index()].warmup) continue;
    walls.per_token.push_back(step.wall());
    if (step.batch) walls.by_batch[*step.batch].push_back(step.wall());
  }
  for (const StageInstance& instance : stages.instances) {
    if (stages.serving || instance.warmup) continue;
    const std::string& name = stages.stages[instance.stage].name;
    if (name == profile::kPrefill) walls.first_token.push_back(instance.wall());
    if (name == profile::kDecode && instance.all_steps() > 0 && !stages.speculative) {
      const Nanoseconds steps = instance.all_steps();
      walls.per_token.push_back((instance.wall() + steps / 2) / steps);
    }
  }
  return walls;
}

profile::TokenTimes token_times(TokenWalls walls) {
  profile::TokenTimes result;
  const auto summarize_any = [](std::vector<Nanoseconds>& all, auto& into) {
    if (!all.empty()) into = times(summarize(std::move(all)));
  };
  summarize_any(walls.first_token, result.time_to_first_token);
  summarize_any(walls.per_token, result.time_per_output_token);
  for (auto& [batch, steps] : walls.by_batch) {
    const Summary wall = summarize(std::move(steps));
    const auto per_second = ratio(static_cast<double>(batch) * kNanosecondsPerSecond, wall.mean);
    result.by_batch.push_back({batch, times(wall), quantity<profile::TokensPerSecond>(per_second)});
  }
  return result;
}

}  // namespace llmprof::analysis
