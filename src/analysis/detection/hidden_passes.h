#pragma once

#include <vector>

#include "analysis/detection/kernel_sequence.h"
#include "analysis/detection/pass_cores.h"

namespace llmprof::analysis {

// Passes whose kernels the capture hides in graph replays: each replay is one, or several different
// graphs that always follow each other are. Empty where no graph is replayed again.
std::vector<PassCore> find_hidden_passes(const KernelSequence& sequence);

}  // namespace llmprof::analysis
