#pragma once

#include <vector>

#include "analysis/unwatched/launch_passes.h"

namespace llmprof::analysis {

// The passes of the stages, in order: a step, or an instance that has none. Those that a window of
// tracing cut are left out, and those whose launches are between another's.
std::vector<LaunchPass> recorded_passes(const trace::Trace& trace, const Stages& stages,
                                        const LaunchSequence& sequence);

}  // namespace llmprof::analysis
