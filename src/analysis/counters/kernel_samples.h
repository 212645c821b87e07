#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "analysis/ranking/kernels.h"
#include "trace/trace.h"

namespace llmprof::analysis {

// Of a sample's time, how long one kernel must run alone for the sample to be its own. What else
// the GPU did in the rest of it is counted as the kernel's, too.
inline constexpr double kLeastShareOfSample = 0.9;

// Counter samples that the launches of one kernel filled.
struct KernelSamples {
  bool met = false;  // some sample and some launch have time in common
  uint64_t samples = 0;
  uint64_t launches = 0;  // with time in these samples
  Nanoseconds time = 0;   // of these samples
  Nanoseconds own = 0;    // of it, that in which the kernel ran alone
  double bytes = 0;       // DRAM, read and written
  // Activity of the tensor cores, mean over the samples, 0 to 1; none where it was not sampled.
  std::optional<double> tensor_active;
};

struct SampledRows {
  std::vector<KernelSamples> rows;  // one per row of the ranking
  uint64_t samples = 0;             // of DRAM bytes
  uint64_t attributed = 0;          // of them, those that one kernel filled
  Nanoseconds interval = 0;         // of a sample, median
};

// None without samples of DRAM bytes, and where the ranking has no times of launches.
std::optional<SampledRows> sample_kernels(const trace::Trace& trace, const KernelRanking& ranking);

}  // namespace llmprof::analysis
