#include "analysis/stages/kernel_bursts.h"

namespace llmprof::analysis {
namespace {

constexpr uint32_t kBurstPeriod = 3;
constexpr size_t kBurstRepeats = 32;

}  // namespace

std::vector<KernelBurst> find_kernel_bursts(std::span<const uint32_t> sequence) {
  std::vector<KernelBurst> bursts;
  for (uint32_t period = 1; period <= kBurstPeriod; ++period) {
    size_t begin = period;
    for (size_t i = period; i <= sequence.size(); ++i) {
      if (i < sequence.size() && sequence[i] == sequence[i - period]) continue;
      if (i - begin >= kBurstRepeats * period) bursts.push_back({begin - period, i, period});
      begin = i + 1;
    }
  }
  return bursts;
}

}  // namespace llmprof::analysis
