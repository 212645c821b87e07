#pragma once

#include <vector>

#include "profile/profile.h"
#include "trace/trace.h"

namespace llmprof::analysis {

struct Operators {
  std::vector<profile::Operator> rows;  // by cuda_self, then cpu_self, longest first
  profile::OperatorsFound found;
};

// GPU work belongs to the innermost operator open on the launching thread at its launch. If the
// launch was not recorded, it belongs to the operator that the capture names.
Operators find_operators(const trace::Trace& trace);
// Requires the profile's totals.
void fill_operators(Operators&& operators, profile::Profile& profile);

}  // namespace llmprof::analysis
