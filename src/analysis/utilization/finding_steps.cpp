#include <fmt/format.h>

#include <cmath>

#include "analysis/utilization/finding_kinds.h"
#include "analysis/utilization/finding_words.h"

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
  const double time = static_cast<double>(above) / facts.instances();
  const bool alone = facts.slow_steps.size() == 1;
  const SlowStep& slowest = *facts.slow_steps.front();
  std::string evidence = fmt::format(
      "{}: {} of {} steps{}, against a median step of {}; the slowest takes {} more",
      share_words(facts, time),
      alone ? std::string("the slowest") : fmt::format("the {} slowest", facts.slow_steps.size()),
      facts.steps, alone ? "" : " together",
      duration_words(static_cast<double>(facts.stage->step_wall.p50)),
      duration_words(static_cast<double>(slowest.above_median)));
  for (size_t i = 0; i < slowest.reasons.size(); ++i) {
    const auto longer = static_cast<double>(slowest.reasons[i].longer);
    evidence += fmt::format("{} {} ({}{})", i == 0 ? ":" : ",", slowest.reasons[i].what,
                            longer < 0 ? "-" : "+", duration_words(std::abs(longer)));
  }
  evidence += "; the same time may be part of other findings";
  findings.push_back(make_finding(
      facts, time,
      all_first ? "The first step takes longer than the others"
                : (alone ? "One step takes clearly longer" : "Some steps take clearly longer"),
      evidence,
      all_first
          ? (facts.on_cpu ? "Do before the loop what only the first step does: touch memory, "
                            "start threads, choose kernels; then compare again."
                          : "Do before the loop what only the first step does: upload graphs "
                            "(cudaGraphUpload), allocate, choose kernels; then compare again.")
          : "Look at the longer part named here in the timeline of that step first; where it "
            "is a gap, sample the host (garbage collection, allocation, other threads)."));
}

}  // namespace llmprof::analysis
