#pragma once

#include <optional>
#include <span>
#include <vector>

#include "analysis/detection/forward_passes.h"
#include "analysis/stages/stages.h"

namespace llmprof::analysis {

// A pass and its place in Stages.
struct OwnedPass {
  uint32_t begin = 0;  // positions of the sequence
  uint32_t end = 0;
  InstanceId instance;
  StepId step;
};

// Assigns each pass its kernels and replays, and the memory operations during it. Between two
// passes, a copy to the host belongs to the previous one, any other operation to the next one.
void own_work(const KernelSequence& sequence, std::span<const OwnedPass> passes,
              WorkOwners& owners);

// When the host started to prepare each pass, if that is part of its time: after the GPU's last
// work, or after the host's own last CUDA call. None if the pass starts with its first kernel.
//
// Preparation belongs to a prefill, and to every step of an engine, unless it took twice as long as
// the pass itself: then the program waited for a request. A decode step already has its request, so
// only a much longer pause is excluded. Consecutive requests are prepared alike: if one took longer
// than the others (the first, which compiles), its preparation did.
std::vector<std::optional<Nanoseconds>> prepared_since(const KernelSequence& sequence,
                                                       const ForwardPasses& found, bool serving);

}  // namespace llmprof::analysis
