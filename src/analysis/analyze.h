#pragma once

#include <vector>

#include "analysis/passes/pass.h"
#include "analysis/passes/request.h"
#include "analysis/passes/results.h"
#include "profile/profile.h"

namespace llmprof::analysis {

struct Analyzed {
  profile::Profile profile;
  Results results;  // in terms of the trace, for callers that query it further
  std::vector<PassTiming> timings;
};

// Prepares the trace, runs all passes, and builds the profile from their results. Fails if the
// selection does not exist.
Result<Analyzed> analyze(trace::Trace& trace, const AnalysisRules& rules,
                         const AnalysisOptions& options, Progress* progress = nullptr);

}  // namespace llmprof::analysis
