#pragma once

#include <optional>
#include <span>
#include <vector>

#include "analysis/detection/forward_passes.h"

namespace llmprof::analysis {

// How much work a pass was, as far as the launch grids tell.
struct PassSize {
  // Tokens that went through the layers: blocks of a kernel that takes one block per row (gather,
  // norm), or the blocks of the same kernels beside a pass whose tokens are known.
  std::optional<uint64_t> tokens;
  // Sequences that got a next token: rows of the gather before the last GEMM, of the selection, or
  // of the results that the host read.
  std::optional<uint64_t> sequences;
  // Its context is one token longer than that of the pass before: one token per sequence.
  bool grows = false;
  // Threads of its middle elementwise, norm or copy kernel; 0 where grids are unknown.
  uint64_t threads = 0;
  // Of the kernel names in order: equal passes are equal here.
  uint64_t names = 0;
};

// One for each pass.
std::vector<PassSize> measure_passes(const KernelSequence& sequence,
                                     std::span<const ForwardPass> passes);

}  // namespace llmprof::analysis
