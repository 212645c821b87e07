#pragma once

#include <optional>

#include "analysis/budget/budget.h"
#include "analysis/counters/stage_counters.h"
#include "analysis/mfu/utilization.h"
#include "analysis/passes/prepare.h"
#include "analysis/stages/stages.h"
#include "base/diagnostics.h"
#include "profile/requests.h"

namespace llmprof::analysis {

// The requests of a client, with their statistics and what they waited for; none without a file of
// requests.
std::optional<profile::Requests> find_requests(const Prepared& in, const Stages& stages,
                                               const Counters& counters, const Budgets& budgets,
                                               const UseOfPeaks& use, Diagnostics& diagnostics);

}  // namespace llmprof::analysis
