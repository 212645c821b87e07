#include <algorithm>

#include "analysis/findings/finders.h"
#include "analysis/findings/make_finding.h"

namespace llmprof::analysis {
namespace {

constexpr double kFarBelow = 0.9;  // of the maximum clock
constexpr double kOften = 0.05;    // of the samples: below, a reason is no more than a moment

std::vector<profile::ThrottleReason> slowing_reasons(const profile::Measured& stage) {
  std::vector<profile::ThrottleReason> reasons;
  for (const profile::ThrottleReason& seen : stage.throttle_reasons) {
    if (seen.slowing && seen.share_of_samples.value >= kOften) reasons.push_back(seen);
  }
  return reasons;
}

}  // namespace

void find_low_clocks(const StageFacts& facts, const Stages& stages, const Counters& counters,
                     std::vector<Finding>& findings) {
  const auto index = static_cast<size_t>(facts.stage - stages.stages.data());
  if (index >= counters.stages.size() || !counters.stages[index]) return;
  const profile::Measured& stage = *counters.stages[index];
  if (!stage.sm_clock || !stage.highest_sm_clock) return;
  const auto reasons = slowing_reasons(stage);
  const double reached = stage.sm_clock->mean.value / stage.highest_sm_clock->value;
  if (reasons.empty() && reached >= kFarBelow) return;
  const double time = std::max(0.0, 1 - reached) * facts.stage->busy.mean;
  profile::FindingValues values;
  values.add("mean_clock", stage.sm_clock->mean)
      .add("lowest_clock", stage.sm_clock->min)
      .add("highest_clock", stage.sm_clock->max)
      .add_number("samples", static_cast<double>(stage.sm_clock->samples))
      .add("maximum_clock", *stage.highest_sm_clock);
  for (const profile::ThrottleReason& seen : reasons) {
    values.add("slowed_by", seen.share_of_samples, seen.reason);
  }
  if (stage.temperature) values.add("highest_temperature", stage.temperature->max);
  if (stage.power) values.add("mean_power", stage.power->mean);
  findings.push_back(
      make_finding(facts, profile::FindingKind::low_clocks, time, std::move(values)));
}

}  // namespace llmprof::analysis
