#include "analysis/findings/findings.h"

#include <algorithm>
#include <span>

#include "analysis/findings/finders.h"
#include "analysis/findings/stage_facts.h"

namespace llmprof::analysis {
namespace {

constexpr double kLeastShareOfWall = 0.01;  // of the stage's wall time
constexpr size_t kMost = 10;

bool includes_tracing(const FindingEvidence& evidence, const StageFacts& facts) {
  if (evidence.unwatched == nullptr) return false;
  const auto stage = static_cast<size_t>(facts.stage - evidence.stages.stages.data());
  return stage < evidence.unwatched->size() && !(*evidence.unwatched)[stage].known();
}

// Idle time that is not the program's alone.
void mark_as_traced(std::span<Finding> findings) {
  for (Finding& finding : findings) {
    profile::FindingValues values;
    values.add_flag(profile::kTracingIncluded, true);
    for (profile::FindingValue& value : std::move(values).take()) {
      finding.values.push_back(std::move(value));
    }
  }
}

}  // namespace

std::vector<Finding> find_findings(const FindingEvidence& evidence) {
  const trace::Trace& trace = evidence.trace;
  const Stages& stages = evidence.stages;
  std::vector<Finding> findings;
  const std::vector<StageFacts> all = stage_facts(evidence);
  find_hidden_time(trace, all, findings);
  for (const StageFacts& facts : all) {
    if (facts.on_cpu) {
      find_cpu_time(facts, findings);
    } else {
      const size_t before = findings.size();
      find_idle_time(facts, findings);
      if (includes_tracing(evidence, facts)) mark_as_traced(std::span(findings).subspan(before));
      find_kernel_time(facts, findings);
      find_transfers(facts, findings);
    }
    find_step_outliers(facts, stages, findings);
    find_low_clocks(facts, stages, evidence.counters, findings);
    find_latency_bound(facts, trace, stages, evidence.roofline, findings);
  }
  std::erase_if(findings, [](const Finding& finding) {
    return finding.recoverable &&
           (finding.recoverable->value <= 0 || finding.share_of_wall.value < kLeastShareOfWall);
  });
  std::stable_sort(findings.begin(), findings.end(), [](const Finding& a, const Finding& b) {
    if (a.recoverable.has_value() != b.recoverable.has_value()) return !a.recoverable;
    return a.total_recoverable > b.total_recoverable;
  });
  if (findings.size() > kMost) findings.resize(kMost);
  return findings;
}

}  // namespace llmprof::analysis
