#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace llmprof::analysis {

// One to three kernels that repeat many times without a pause: weights being filled, a kernel being
// tuned. Positions [begin, end) of a sequence.
struct KernelBurst {
  size_t begin = 0;
  size_t end = 0;
  uint32_t period = 0;
};

// By period, then begin; those of different periods may overlap.
std::vector<KernelBurst> find_kernel_bursts(std::span<const uint32_t> sequence);

}  // namespace llmprof::analysis
