#include "job/waits/measure_waits.h"

#include <algorithm>

namespace llmprof::job {

Units::Units(const std::vector<RankPart>& parts, const JobSteps& steps)
    : parts_(parts), steps_(steps), stages_(job_stage_names(parts)) {
  by_step_.assign(stages_.size(), 0);
  counted_.assign(stages_.size(), 0);
  wall_.assign(stages_.size(), 0);
  unit_of_step_.resize(parts.size());
  spans_.resize(parts.size());
  for (size_t part = 0; part < parts.size(); ++part) {
    unit_of_step_[part].assign(parts[part].steps.size(), kNotCommon);
  }
  const auto number_of = [&](const std::string& name) {
    return static_cast<uint32_t>(std::ranges::find(stages_, name) - stages_.begin());
  };
  for (const JobStep& step : steps.steps) {
    const uint32_t stage = number_of(step.stage);
    by_step_[stage] = 1;
    for (size_t part = 0; part < parts.size(); ++part) {
      if (step.row[part] == kNoRow) continue;
      unit_of_step_[part][step.row[part]] = static_cast<uint32_t>(units_.size());
    }
    units_.push_back({stage, step.end - step.start, !step.warmup && !step.after_untraced});
  }
  for (uint32_t i = 0; i < steps.instances.size(); ++i) {
    const JobInstance& instance = steps.instances[i];
    const uint32_t stage = number_of(instance.stage);
    if (by_step_[stage] != 0) continue;
    add_spans(parts, instance, static_cast<uint32_t>(units_.size()));
    instance_of_unit_.push_back(i);
    units_.push_back({stage, instance.end - instance.start, !instance.warmup});
  }
  for (auto& spans : spans_) {
    std::ranges::sort(spans, {}, &Span::start);
  }
  for (const JobUnit& unit : units_) {
    if (!unit.counted) continue;
    ++counted_[unit.stage];
    wall_[unit.stage] += unit.wall;
  }
}

void Units::add_spans(const std::vector<RankPart>& parts, const JobInstance& instance,
                      uint32_t unit) {
  for (size_t part = 0; part < parts.size(); ++part) {
    if (instance.row[part] == kNoRow) continue;
    const profile::Instance& own =
        find_stage(parts[part].profile, instance.stage)->instances[instance.row[part]];
    const Nanoseconds start = own.start_ns.value;
    spans_[part].push_back({start, start + profile::to_nanoseconds(own.wall), unit});
  }
}

uint32_t Units::row(uint32_t unit, uint32_t part) const {
  if (unit < steps_.steps.size()) return steps_.steps[unit].row[part];
  return steps_.instances[instance_of_unit_[unit - steps_.steps.size()]].row[part];
}

uint32_t Units::unit_of(uint32_t part, uint32_t row) const {
  const PackedCollectives& of = parts_[part].collectives;
  const uint32_t step = of.step(row);
  if (step < unit_of_step_[part].size()) return unit_of_step_[part][step];
  const auto& spans = spans_[part];
  const Nanoseconds start = of.start(row);
  auto behind = std::ranges::upper_bound(spans, start, {}, &Span::start);
  if (behind == spans.begin()) return kOutside;
  --behind;
  return start < behind->end ? behind->unit : kOutside;
}

}  // namespace llmprof::job
