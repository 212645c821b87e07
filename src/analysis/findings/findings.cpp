#include "analysis/findings/findings.h"

#include <algorithm>
#include <span>

#include "analysis/findings/stage_facts.h"
#include "analysis/statistics/statistics.h"

namespace llmprof::analysis {
namespace {

constexpr double kLeastShareOfWall = 0.01;  // of the stage's wall time
constexpr size_t kMost = 10;

constexpr double kHiddenWorthNaming = 0.01;  // of the GPU time of kernels and replays

double hidden_time(const StageFacts& facts) {
  return facts.time(BudgetPart::hidden_graphs) * facts.instances();
}

// CUDA graphs with kernels that the capture hides: reported for the stage with most hidden time.
void find_hidden_time(const trace::Trace& trace, const std::vector<StageFacts>& all,
                      std::vector<Finding>& findings) {
  const auto hidden = static_cast<double>(total_time(trace.graph_replays));
  if (hidden <= 0) return;
  const double share = hidden / (hidden + static_cast<double>(total_time(trace.kernels)));
  if (share < kHiddenWorthNaming) return;
  FindingValues values;
  values.add("replays", trace.graph_replays.size())
      .add("hidden_time", to_milliseconds(hidden))
      .add("hidden_share_of_gpu_time", profile::Share{share});
  Finding& finding = findings.emplace_back();
  finding.kind = FindingKind::hidden_graphs;
  const auto most = std::ranges::max_element(all, {}, hidden_time);
  if (most != all.end() && hidden_time(*most) > 0) {
    const double time = most->time(BudgetPart::hidden_graphs);
    finding.stage = most->stage->name;
    finding.unit = most->unit;
    finding.traced_part = most->traced_part;
    finding.share_of_wall = {time / most->savings->wall};
    values.add("hidden_time_per_instance", to_milliseconds(time));
  }
  finding.values = std::move(values).take();
}

void find_step_outliers(const StageFacts& facts, std::vector<Finding>& findings) {
  if (facts.slow_steps.empty()) return;
  Nanoseconds above = 0;
  // An engine's step is the only one of its instance.
  bool all_first = !facts.evidence->stages.serving;
  for (const profile::SlowStep* slow : facts.slow_steps) {
    above += to_nanoseconds(slow->above_median);
    all_first = all_first && slow->step_of_instance == 0;
  }
  const profile::SlowStep& slowest = *facts.slow_steps.front();
  FindingValues values;
  values.add("slow_steps", facts.slow_steps.size())
      .add("steps", facts.steps)
      .add("median_step", to_milliseconds(facts.stage->step_wall.p50))
      .add("slowest_above_median", slowest.above_median)
      .add("only_first_steps", all_first);
  for (const auto& reason : slowest.reasons) {
    values.add("slower_by", reason.longer, "");
  }
  Finding& finding = add_finding(facts, FindingKind::slow_steps, facts.per_instance(above),
                                 std::move(values), findings);
  for (size_t i = 0; i < slowest.reasons.size(); ++i) {
    explain_value("slower_by", slowest.reasons[i].what_reasons, finding, i);
  }
}

constexpr double kFarBelow = 0.9;  // of the maximum clock
constexpr double kOften = 0.05;    // of the samples: a rarer reason is only momentary

// Clocks in the stage that are far below the GPU's maximum or lowered by heat or power.
void find_low_clocks(const StageFacts& facts, std::vector<Finding>& findings) {
  const auto& counters = facts.evidence->counters.stages;
  if (facts.index >= counters.size() || !counters[facts.index]) return;
  const profile::Measured& stage = *counters[facts.index];
  if (!stage.sm_clock || !stage.highest_sm_clock) return;
  FindingValues values;
  values.add("mean_clock", stage.sm_clock->mean)
      .add("lowest_clock", stage.sm_clock->min)
      .add("highest_clock", stage.sm_clock->max)
      .add("samples", stage.sm_clock->samples)
      .add("maximum_clock", *stage.highest_sm_clock);
  const double reached = stage.sm_clock->mean.value / stage.highest_sm_clock->value;
  bool low = reached < kFarBelow;
  for (const profile::ThrottleReason& seen : stage.throttle_reasons) {
    if (!seen.slowing || seen.share_of_samples.value < kOften) continue;
    low = true;
    values.add("slowed_by", seen.share_of_samples, to_string(seen.reason));
  }
  if (!low) return;
  if (stage.temperature) values.add("highest_temperature", stage.temperature->max);
  if (stage.power) values.add("mean_power", stage.power->mean);
  add_finding(facts, FindingKind::low_clocks, std::max(0.0, 1 - reached) * facts.stage->busy.mean,
              std::move(values), findings);
}

// Marks idle time that includes tracing overhead.
void mark_traced(const StageFacts& facts, std::span<Finding> idle) {
  const std::vector<StageUntraced>* untraced = facts.evidence->untraced;
  if (untraced == nullptr || facts.index >= untraced->size()) return;
  if ((*untraced)[facts.index].known()) return;
  for (Finding& finding : idle) {
    FindingValues values;
    values.add(profile::kTracingIncluded, true);
    finding.values.push_back(std::move(values).take().front());
  }
}

}  // namespace

std::vector<Finding> find_findings(const FindingEvidence& evidence) {
  std::vector<Finding> findings;
  const std::vector<StageFacts> all = stage_facts(evidence);
  find_hidden_time(evidence.trace, all, findings);
  for (const StageFacts& facts : all) {
    if (facts.on_cpu()) {
      find_kernel_time(facts, findings);
      find_idle_time(facts, findings);
    } else {
      const size_t before = findings.size();
      find_idle_time(facts, findings);
      mark_traced(facts, std::span(findings).subspan(before));
      find_kernel_time(facts, findings);
      find_transfers(facts, findings);
    }
    find_step_outliers(facts, findings);
    find_low_clocks(facts, findings);
    find_latency_bound(facts, findings);
  }
  std::erase_if(findings, [](const Finding& finding) {
    return finding.saving &&
           (finding.saving->value <= 0 || finding.share_of_wall.value < kLeastShareOfWall);
  });
  keep_largest(findings);
  return findings;
}

void keep_largest(std::vector<Finding>& findings) {
  std::ranges::stable_sort(findings, [](const Finding& a, const Finding& b) {
    if (a.saving.has_value() != b.saving.has_value()) return !a.saving;
    return a.total_saving > b.total_saving;
  });
  if (findings.size() > kMost) findings.resize(kMost);
}

}  // namespace llmprof::analysis
