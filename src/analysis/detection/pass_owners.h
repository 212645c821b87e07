#pragma once

#include <optional>
#include <span>
#include <vector>

#include "analysis/detection/forward_passes.h"
#include "analysis/stages/stages.h"

namespace llmprof::analysis {

// A pass and what it is in Stages.
struct OwnedPass {
  uint32_t begin = 0;  // positions of the sequence
  uint32_t end = 0;
  InstanceId instance;
  StepId step;
};

// Gives the kernels and replays of each pass to it, and the memory operations during it. Between
// two passes a copy to the host belongs to the one before, any other to the one that it prepares.
void own_work(const KernelSequence& sequence, std::span<const OwnedPass> passes,
              WorkOwners& owners);

// Since when the host prepared each pass, where that is part of its time: since the GPU's last
// work, or since the host's own last call of CUDA. None where the pass begins with its first
// kernel.
//
// What the host did then was to prepare a prefill, or any step of an engine. Not if it took twice
// as long as the pass itself: the program waited for a request. A decode step has its request; only
// a much longer pause is none of its. Requests that follow each other are prepared alike: one that
// took longer than the others (the first, which compiles) is so because of its preparation.
std::vector<std::optional<Nanoseconds>> prepared_since(const KernelSequence& sequence,
                                                       const ForwardPasses& found, bool serving);

}  // namespace llmprof::analysis
