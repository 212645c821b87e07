#pragma once

#include <span>

#include "analysis/detection/forward_passes.h"
#include "analysis/detection/pass_cores.h"

namespace llmprof::analysis {

// Forward passes from what repeats (pass_cores.h) and from what the host did between them: graph
// launches, results that were read back, pauses between launches. No name or class of a kernel is
// looked at. `reason` says why there are none.
ForwardPasses find_structural_passes(const KernelSequence& sequence);

}  // namespace llmprof::analysis
