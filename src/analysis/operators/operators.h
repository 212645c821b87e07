#pragma once

#include <vector>

#include "profile/profile.h"
#include "trace/trace.h"

namespace llmprof::analysis {

struct Operators {
  std::vector<profile::Operator> rows;  // by cuda_self, then cpu_self, longest first
  profile::OperatorsFound found;
};

// GPU work belongs to the operator that was open innermost on the launching thread when it was
// launched; work whose launch was not recorded, to the operator that the capture itself names.
Operators find_operators(const trace::Trace& trace);
// Into a profile that has its totals.
void fill_operators(Operators&& operators, profile::Profile& profile);

}  // namespace llmprof::analysis
