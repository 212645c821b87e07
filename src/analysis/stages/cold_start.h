#pragma once

#include "analysis/stages/stages.h"
#include "base/diagnostics.h"

namespace llmprof::analysis {

// Flags stages of which only the program's first instance or two were recorded although the program
// ran on while nothing was traced: windows of tracing open at its start, and later ones may see
// other stages. Instances are measured and in order.
void flag_only_first(const trace::Trace& trace, Stages& stages, Diagnostics& diagnostics);

}  // namespace llmprof::analysis
