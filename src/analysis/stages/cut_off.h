#pragma once

#include "analysis/stages/stages.h"
#include "base/diagnostics.h"

namespace llmprof::analysis {

// Excludes from all statistics, and says so, what the capture holds only a part of: a first
// instance that had begun before recording did (it has fewer kernels than the others, and the
// capture's first ones), and a last one that had not ended (its range is open, it has fewer kernels
// or fewer steps than the others, and the capture's last ones). A stage's only instance is kept.
void flag_cut_off(const trace::Trace& trace, Stages& stages, Diagnostics& diagnostics);

}  // namespace llmprof::analysis
