#include <fmt/format.h>

#include <algorithm>

#include "analysis/utilization/finding_kinds.h"
#include "analysis/utilization/finding_words.h"

namespace llmprof::analysis {
namespace {

constexpr double kFarBelow = 0.9;  // of the highest clock
constexpr double kOften = 0.05;    // of the samples: below, a reason is no more than a moment

const StageCounters* counters_of(const StageFacts& facts, const Stages& stages,
                                 const Counters& counters) {
  const auto found = std::find_if(
      counters.stages.begin(), counters.stages.end(),
      [&](const StageCounters& stage) { return &stages.stages[stage.stage] == facts.stage; });
  return found == counters.stages.end() ? nullptr : &*found;
}

// "power cap in 80.0 % of the samples, thermal slowdown (software) in 10.0 %".
std::string slowing_words(const StageCounters& stage) {
  std::string words;
  for (const StageCounters::Throttled& seen : stage.throttled) {
    if (!seen.reason.slowing || seen.share < kOften) continue;
    words += fmt::format("{}{} in {}", words.empty() ? "" : ", ", seen.reason.words,
                         percent_words(seen.share));
    if (words.find("samples") == std::string::npos) words += " of the samples";
  }
  return words;
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
  const std::string slowed = slowing_words(*stage);
  if (slowed.empty() && !is_far_below(*stage)) return;
  const double missing = 1 - stage->sm_clock->mean / stage->highest_sm_clock;
  const double time = std::max(0.0, missing) * facts.stage->busy.mean;
  std::string evidence = fmt::format(
      "{} at the most, if all GPU time followed the clock: SMs at {:.0f} MHz on average ({:.0f} to "
      "{:.0f} MHz in {}) of {:.0f} MHz at the highest",
      share_words(facts, time), stage->sm_clock->mean, stage->sm_clock->min, stage->sm_clock->max,
      counted_words(static_cast<double>(stage->sm_clock->samples), "sample"),
      stage->highest_sm_clock);
  evidence += slowed.empty() ? std::string("; no slowing reason was seen") : "; " + slowed;
  if (stage->temperature) evidence += fmt::format("; up to {:.0f} C", stage->temperature->max);
  if (stage->power) evidence += fmt::format("; {:.0f} W on average", stage->power->mean);
  findings.push_back(make_finding(
      facts, time, "The GPU runs below its highest clock", evidence,
      "Compare with runs at the same clocks only. Look at cooling and at the power limit "
      "(nvidia-smi -q -d PERFORMANCE,POWER,CLOCK); where clocks were locked or set by hand, that "
      "is the reason."));
}

}  // namespace llmprof::analysis
