#pragma once

#include <cstdint>
#include <vector>

#include "analysis/detection/forward_passes.h"

namespace llmprof::analysis {

// Positions of the sequence, in order, between which and the one before GPU work may be missing,
// because our collector was not attached.
std::vector<uint32_t> untraced_cuts(const KernelSequence& sequence);

// No pass goes on behind a cut: what lies beyond it from its layers is of another pass, and layers
// on both sides are no pass but the parts of two. A pass at a cut, or at either end of the
// sequence, that has another number of layers than all passes elsewhere is a part of one, too.
// `kernels`: of the sequence.
void part_at_cuts(ForwardPasses& found, uint32_t kernels);

// Layers outside of the passes that cuts explain: fewer than a pass has, between a cut and the
// nearest pass.
uint64_t layers_of_cut_passes(const KernelSequence& sequence, const ForwardPasses& found);

}  // namespace llmprof::analysis
