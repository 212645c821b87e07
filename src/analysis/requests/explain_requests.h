#pragma once

#include "analysis/budget/budget.h"
#include "analysis/counters/stage_counters.h"
#include "analysis/mfu/utilization.h"
#include "analysis/requests/client_requests.h"
#include "analysis/stages/stages.h"
#include "profile/requests.h"

namespace llmprof::analysis {

// What other passes found about the engine's steps.
struct EngineWork {
  const Stages& stages;
  const Counters& counters;
  const Budgets& budgets;
  const UseOfPeaks& use;
};

// Above one in ten, tokens or rows without a place, or in a wrong one, leave no causes.
constexpr bool is_too_much(uint64_t part, uint64_t whole) {
  constexpr uint64_t kFewestOfAll = 10;
  return kFewestOfAll * part > whole;
}

// Joins the tokens to the engine's batches and says what each request waited for: fills `join`,
// `batches` and everything that follows from them. `into.items` has a row for each request, in the
// same order. Without enough coverage there is only the join.
void explain_requests(const trace::Trace& trace, const EngineWork& work,
                      const ClientRequests& requests, profile::Requests& into);

}  // namespace llmprof::analysis
