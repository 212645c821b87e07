#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "analysis/ranking/kernels.h"
#include "profile/kernels.h"
#include "trace/trace.h"

namespace llmprof::analysis {

// Share of a sample's time that one kernel must run alone to own the sample. Whatever else the GPU
// did in the rest is also counted as the kernel's.
inline constexpr double kLeastShareOfSample = 0.9;

// Counter samples that the launches of one kernel filled.
struct KernelSamples {
  bool met = false;  // some sample and some launch overlap
  uint64_t samples = 0;
  uint64_t launches = 0;  // that overlap these samples
  Nanoseconds time = 0;   // of these samples
  Nanoseconds own = 0;    // ns of these samples in which the kernel ran alone
  double bytes = 0;       // DRAM, read and written
  // Mean tensor core activity over the samples, 0 to 1; none if it was not sampled.
  std::optional<double> tensor_active;
};

// Does not yet count kernels.
struct SampledRows : profile::SampledKernels {
  std::vector<KernelSamples> rows;  // one per row of the ranking
};

// None without samples of DRAM bytes, or if the ranking has no launch times.
std::optional<SampledRows> sample_kernels(const trace::Trace& trace, const KernelRanking& ranking);

}  // namespace llmprof::analysis
