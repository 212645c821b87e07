#pragma once

#include <vector>

#include "analysis/detection/kernel_sequence.h"

namespace llmprof::analysis {

struct CopyToHost {
  Nanoseconds start = 0;
  Nanoseconds end = 0;
  uint64_t bytes = 0;
};

// Of the sequence's process and GPU, by start.
std::vector<CopyToHost> copies_to_host(const KernelSequence& sequence);

}  // namespace llmprof::analysis
