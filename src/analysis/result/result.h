#pragma once

#include "analysis/passes/runner.h"
#include "profile/profile.h"

namespace llmprof::analysis {

// What the passes found, as values that need neither the trace nor each other.
profile::Profile make_profile(const Prepared& prepared, const PassRun& run);

}  // namespace llmprof::analysis
