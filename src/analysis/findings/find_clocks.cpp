#include <algorithm>

#include "analysis/findings/finders.h"
#include "analysis/findings/make_finding.h"
#include "base/units.h"

namespace llmprof::analysis {
namespace {

constexpr double kFarBelow = 0.9;  // of the maximum clock
constexpr double kOften = 0.05;    // of the samples: below, a reason is no more than a moment

profile::Hertz megahertz(double value) { return {value * kMega}; }

const StageCounters* counters_of(const StageFacts& facts, const Stages& stages,
                                 const Counters& counters) {
  const auto found = std::find_if(
      counters.stages.begin(), counters.stages.end(),
      [&](const StageCounters& stage) { return &stages.stages[stage.stage] == facts.stage; });
  return found == counters.stages.end() ? nullptr : &*found;
}

std::vector<StageCounters::Throttled> slowing_reasons(const StageCounters& stage) {
  std::vector<StageCounters::Throttled> reasons;
  for (const StageCounters::Throttled& seen : stage.throttled) {
    if (seen.reason.slowing && seen.share >= kOften) reasons.push_back(seen);
  }
  return reasons;
}

bool is_far_below(const StageCounters& stage) {
  return stage.sm_clock && stage.highest_sm_clock > 0 &&
         stage.sm_clock->mean < kFarBelow * stage.highest_sm_clock;
}

}  // namespace

void find_low_clocks(const StageFacts& facts, const Stages& stages, const Counters& counters,
                     std::vector<Finding>& findings) {
  const StageCounters* stage = counters_of(facts, stages, counters);
  if (stage == nullptr || !stage->sm_clock || stage->highest_sm_clock <= 0) return;
  const auto reasons = slowing_reasons(*stage);
  if (reasons.empty() && !is_far_below(*stage)) return;
  const double missing = 1 - stage->sm_clock->mean / stage->highest_sm_clock;
  const double time = std::max(0.0, missing) * facts.stage->busy.mean;
  profile::FindingValues values;
  values.add("mean_clock", megahertz(stage->sm_clock->mean))
      .add("lowest_clock", megahertz(stage->sm_clock->min))
      .add("highest_clock", megahertz(stage->sm_clock->max))
      .add_number("samples", static_cast<double>(stage->sm_clock->samples))
      .add("maximum_clock", megahertz(stage->highest_sm_clock));
  for (const StageCounters::Throttled& seen : reasons) {
    values.add("slowed_by", profile::Share{seen.share}, std::string(seen.reason.words));
  }
  if (stage->temperature) {
    values.add("highest_temperature", profile::DegreesCelsius{stage->temperature->max});
  }
  if (stage->power) values.add("mean_power", profile::Watts{stage->power->mean});
  findings.push_back(
      make_finding(facts, profile::FindingKind::low_clocks, time, std::move(values)));
}

}  // namespace llmprof::analysis
