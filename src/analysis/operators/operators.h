#pragma once

#include <vector>

#include "profile/operators.h"
#include "profile/totals.h"
#include "trace/trace.h"

namespace llmprof::analysis {

struct Operators {
  std::vector<profile::Operator> rows;  // by cuda_self, then cpu_self, longest first
  profile::OperatorsFound found;
};

// GPU work belongs to the innermost operator open on the launching thread at its launch. If the
// launch was not recorded, it belongs to the operator that the capture names.
// If the trace shows no GPU time, shares are of the profile's `totals`.
Operators find_operators(const trace::Trace& trace, const profile::Totals& totals = {});

}  // namespace llmprof::analysis
