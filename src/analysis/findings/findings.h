#pragma once

#include <string>
#include <vector>

#include "analysis/budget/budget.h"
#include "analysis/counters/stage_counters.h"
#include "analysis/engine/engine.h"
#include "analysis/ranking/kernel_shapes.h"
#include "analysis/ranking/kernels.h"
#include "analysis/recoverable/recoverable.h"
#include "analysis/roofline/roofline.h"
#include "analysis/stages/selection.h"
#include "analysis/unwatched/unwatched.h"
#include "profile/finding_kinds.h"
#include "profile/findings.h"

namespace llmprof::analysis {

// Something to fix: what was found, the potential saving, and the values that prove it. Its words
// are made where it is reported.
struct Finding {
  profile::FindingKind kind{};
  std::string stage;
  std::string subject;           // as in profile::Finding; empty where the kind has none
  double recoverable = 0;        // ns per `unit`, mean over the measured ones
  double total_recoverable = 0;  // ns, over all measured instances of the stage
  std::string unit;  // "request", "engine step" under continuous batching; instance_unit
  std::optional<double> per_token;  // ns
  double share_of_wall = 0;         // of the stage's wall time, 0 to 1
  std::vector<profile::FindingValue> values;
  // Of values whose text is a sentence, and empty here.
  std::vector<profile::FindingValueReasons> value_reasons;
  // The capture does not show the potential saving: both recoverable times are 0, and
  // `share_of_wall` is what it hides. Comes first, since no other finding includes that time.
  bool blind = false;
};

// What passes before found, which findings are made of.
struct FindingEvidence {
  const trace::Trace& trace;
  const Stages& stages;
  const Budgets& budgets;  // of the unwatched program, where they are known
  const std::vector<StageRecoverable>& recoverable;
  const Utilization& utilization;
  const KernelRanking& ranking;
  const Roofline& roofline;
  const Selection& selection;
  const Counters& counters;
  const EngineFound& engine;
  // Of stages whose times without tracing are not known, idle time includes what tracing added.
  // Null: no times are traced.
  const std::vector<StageUnwatched>* unwatched = nullptr;
};

// Largest total potential saving in the capture first (total_recoverable).
std::vector<Finding> find_findings(const FindingEvidence& evidence);

}  // namespace llmprof::analysis
