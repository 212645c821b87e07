#pragma once

#include <vector>

#include "analysis/budget/budget.h"
#include "analysis/budget/calls_by_thread.h"

namespace llmprof::analysis {

// An idle time of the GPU to be explained by what one thread of the host did in it.
struct HostQuestion {
  BudgetPart cause = BudgetPart::unattributed;
  trace::ThreadId thread;  // that launched what ran next (after the last work: what ran last)
  Nanoseconds from = 0;
  Nanoseconds to = 0;
  trace::LaunchRow launch;  // of what ran next
  bool in_graph = false;
};

// One answer per question: the CUDA call that took the longest in it, or else the operator and
// range open in the longest time outside of calls; of work that was queued, how it was launched.
std::vector<profile::Reason> what_the_host_did(const trace::Trace& trace,
                                               const CallsByThread& calls,
                                               const std::vector<HostQuestion>& questions);

}  // namespace llmprof::analysis
