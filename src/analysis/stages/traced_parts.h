#pragma once

#include "analysis/stages/stages.h"
#include "base/diagnostics.h"

namespace llmprof::analysis {

// Marks (StageInstance::traced_in_part) instances without a range of their own that stand at the
// edge of a window of tracing and have fewer steps than another one of their stage. What is no
// whole one tells nothing about warm-up. Instances are in order of their start.
void find_traced_parts(Stages& stages);

// Excludes these from all statistics, and says so. A stage that has nothing else keeps them.
void exclude_traced_parts(Stages& stages, Diagnostics& diagnostics);

}  // namespace llmprof::analysis
