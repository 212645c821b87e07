#pragma once

#include <optional>
#include <vector>

#include "analysis/detection/forward_passes.h"
#include "analysis/detection/pass_kind.h"

namespace llmprof::analysis {

// Nothing between the pass before and this one was left untraced.
bool traced_since_last(const ForwardPasses& found, size_t row);

// Since when the host prepared each pass, where that is part of its time: since the GPU's last
// work, or since the host's own last call of CUDA. None where the pass begins with its first
// kernel.
//
// What the host did then was to prepare a prefill, or any step of an engine. Not if it took twice
// as long as the pass itself: the program waited for a request. A decode step has its request; only
// a much longer pause is none of its. Requests that follow each other are prepared alike: one that
// took longer than the others (the first, which compiles) is so because of its preparation.
std::vector<std::optional<Nanoseconds>> prepared_since(const KernelSequence& sequence,
                                                       const ForwardPasses& found,
                                                       const PassKinds& kinds, bool serving);

}  // namespace llmprof::analysis
