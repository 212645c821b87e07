#pragma once

#include <span>

#include "analysis/detection/kernel_sequence.h"
#include "analysis/stages/stages.h"

namespace llmprof::analysis {

// A pass and what it is in Stages.
struct OwnedPass {
  uint32_t begin = 0;  // positions of the sequence
  uint32_t end = 0;
  InstanceId instance;
  StepId step;
};

// One entry per row of the trace's tables, none owned.
void resize_owners(const trace::Trace& trace, WorkOwners& owners);

// Gives the kernels and replays of each pass to it, and the memory operations during it. Between
// two passes a copy to the host belongs to the one before, any other to the one that it prepares.
void own_work(const KernelSequence& sequence, std::span<const OwnedPass> passes,
              WorkOwners& owners);

}  // namespace llmprof::analysis
