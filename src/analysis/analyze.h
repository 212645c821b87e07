#pragma once

#include <vector>

#include "analysis/passes/request.h"
#include "analysis/passes/results.h"
#include "analysis/passes/runner.h"
#include "profile/profile.h"

namespace llmprof::analysis {

struct Analyzed {
  profile::Profile profile;
  Results results;  // the same in the passes' terms, for who asks the trace further
  std::vector<PassTiming> timings;
};

// Prepares the trace, runs all passes, and makes the profile of what they found. A selection that
// is not there is an error.
Result<Analyzed> analyze(trace::Trace& trace, const AnalysisRules& rules,
                         const AnalysisOptions& options, Progress* progress = nullptr);

}  // namespace llmprof::analysis
