#pragma once

#include <optional>

#include "compare/gate/gate.h"
#include "compare/model/diff.h"
#include "compare/model/sides.h"

namespace llmprof::compare {

// What grew, by row of the ledgers, and by figure of PyTorch's snapshots. None if no run of either
// side has one of them.
std::optional<MemoryDiff> diff_memory(const Sides& sides);

// A quantity of memory, once for each GPU that all runs of both sides have; the stage is the GPU.
// A single run per side is compared as it is: its bytes are counted, not sampled.
MemoryByGpu compare_memory(const Sides& sides, ComparedQuantity quantity, double threshold);

}  // namespace llmprof::compare
