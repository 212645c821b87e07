#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "analysis/ranking/kernels.h"
#include "llm/gpu_spec.h"
#include "profile/reasons.h"

namespace llmprof::analysis {

// A kernel's place under the roofs of its GPU, from ncu's metrics; all are means over the launches
// measured. FLOPs are those executed, on tensor cores and outside of them: a tile larger than the
// problem counts whole. None where the capture counted only a part of them.
struct KernelRoofline {
  size_t row = 0;                         // of the ranking
  uint64_t launches = 0;                  // measured
  std::optional<trace::Extent> grid;      // the one that most of them had
  size_t grids = 0;                       // distinct ones measured
  std::optional<double> flops;            // a second
  std::optional<double> bytes;            // DRAM bytes a second
  std::optional<double> intensity;        // FLOP a DRAM byte
  std::optional<double> compute_percent;  // of the peak that ncu measured against (SpeedOfLight)
  std::optional<double> memory_percent;
  enum class Bound : uint8_t { unknown, compute, memory, latency };
  Bound bound = Bound::unknown;
};
std::string_view to_string(KernelRoofline::Bound bound);

struct Roofline {
  bool recorded = false;  // by CPU operators' own FLOPs and bytes, against measured peaks
  std::vector<KernelRoofline> kernels;  // in the ranking's order
  profile::Reasons rule;                // the bound classes' rule with its thresholds
  profile::Reasons missing;             // what is not known of how many kernels
};

Roofline kernel_roofline(const KernelRanking& ranking);
// The same of CPU operators, from the FLOPs and bytes that the program recorded; `cpu` null where
// its peaks are not known.
Roofline operator_roofline(const KernelRanking& ranking, const llm::GpuSpec* cpu);

}  // namespace llmprof::analysis
