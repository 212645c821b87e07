#pragma once

#include <string>
#include <vector>

#include "analysis/budget/budget.h"
#include "analysis/counters/stage_counters.h"
#include "analysis/engine/engine.h"
#include "analysis/ranking/kernel_shapes.h"
#include "analysis/ranking/kernels.h"
#include "analysis/roofline/roofline.h"
#include "analysis/savings/savings.h"
#include "analysis/stages/selection.h"
#include "analysis/untraced/untraced_times.h"
#include "profile/finding_kinds.h"
#include "profile/findings.h"

namespace llmprof::analysis {

// Something to fix: what was found, the potential saving, and the values that prove it. Its words
// are made where it is reported. Where the capture does not show the potential saving, both times
// are none, and `share_of_wall` is what it hides: such a finding comes first, since no other one
// includes that time.
using profile::Finding;

// What passes before found, which findings are made of.
struct FindingEvidence {
  const trace::Trace& trace;
  const Stages& stages;
  const Budgets& budgets;  // of the unwatched program, where they are known
  const std::vector<StageSavings>& recoverable;
  const Utilization& utilization;
  const KernelRanking& ranking;
  const Roofline& roofline;
  const Selection& selection;
  const Counters& counters;
  const profile::Engine& engine;
  // Of stages whose times without tracing are not known, idle time includes what tracing added.
  // Null: no times are traced.
  const std::vector<StageUnwatched>* unwatched = nullptr;
};

// Largest total potential saving in the capture first (total_recoverable).
std::vector<Finding> find_findings(const FindingEvidence& evidence);

}  // namespace llmprof::analysis
