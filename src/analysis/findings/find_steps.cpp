#include "analysis/findings/finders.h"
#include "analysis/findings/make_finding.h"

namespace llmprof::analysis {
namespace {

bool is_first_of_instance(const Stages& stages, const SlowStep& slow) {
  const Step& step = stages.steps[slow.step.index()];
  return stages.instances[step.instance.index()].first_step == slow.step.index();
}

}  // namespace

void find_step_outliers(const StageFacts& facts, const Stages& stages,
                        std::vector<Finding>& findings) {
  if (facts.slow_steps.empty()) return;
  Nanoseconds above = 0;
  bool all_first = !facts.serving;  // an engine's step is the only one of its instance
  for (const SlowStep* slow : facts.slow_steps) {
    above += slow->above_median;
    all_first = all_first && is_first_of_instance(stages, *slow);
  }
  const SlowStep& slowest = *facts.slow_steps.front();
  profile::FindingValues values;
  values.add_number("slow_steps", static_cast<double>(facts.slow_steps.size()))
      .add_number("steps", static_cast<double>(facts.steps))
      .add("median_step", profile::to_milliseconds(facts.stage->step_wall.p50))
      .add("slowest_above_median", profile::to_milliseconds(slowest.above_median))
      .add_flag("only_first_steps", all_first);
  for (const auto& reason : slowest.reasons) {
    values.add("slower_by", profile::to_milliseconds(reason.longer), "");
  }
  const double time = static_cast<double>(above) / facts.instances();
  Finding finding = make_finding(facts, profile::FindingKind::slow_steps, time, std::move(values));
  for (size_t i = 0; i < slowest.reasons.size(); ++i) {
    explain_value("slower_by", slowest.reasons[i].what, finding, i);
  }
  findings.push_back(std::move(finding));
}

}  // namespace llmprof::analysis
