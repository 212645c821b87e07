#pragma once

#include <vector>

#include "analysis/budget/budget.h"
#include "analysis/counters/stage_counters.h"
#include "analysis/engine/engine.h"
#include "analysis/ranking/kernels.h"
#include "analysis/roofline/roofline.h"
#include "analysis/savings/savings.h"
#include "analysis/stages/selection.h"
#include "analysis/untraced/untraced_times.h"
#include "profile/finding_kinds.h"
#include "profile/findings.h"

namespace llmprof::analysis {

// Something to fix: what was found, the potential saving, and the values that prove it. The report
// writes its text. If the capture does not show the potential saving, both times are none, and
// `share_of_wall` is the hidden share. Such a finding comes first, since no other one includes this
// time.
using profile::Finding;
using profile::FindingKind;

// Results of earlier passes that findings are based on.
struct FindingEvidence {
  const trace::Trace& trace;
  const Stages& stages;
  const Budgets& budgets;  // of the program without tracing, if known
  const std::vector<StageSavings>& savings;
  const UseOfPeaks& utilization;
  const KernelRanking& ranking;
  const RankedRoofline& roofline;
  const profile::Selection& selection;
  const Counters& counters;
  const profile::Engine& engine;
  // If a stage's times without tracing are unknown, its idle time includes tracing overhead. Null:
  // no times are traced.
  const std::vector<StageUntraced>* untraced = nullptr;
};

// Sorted by total potential saving in the capture (total_saving), largest first.
std::vector<Finding> find_findings(const FindingEvidence& evidence);

// Sorts findings of several origins like these, and keeps the first ten.
void keep_largest(std::vector<Finding>& findings);

}  // namespace llmprof::analysis
