#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/ranking/kernels.h"
#include "llm/gpu_spec.h"
#include "profile/kernels.h"
#include "profile/reasons.h"

namespace llmprof::analysis {

// ncu's own mark for a unit that is well used.
inline constexpr double kBoundPercent = 60;

using profile::Bound;
using profile::RooflineSource;
using profile::WhyNoFlops;

// What samples of the GPU's counters say of a kernel.
struct KernelByCounters {
  uint64_t samples = 0;
  Nanoseconds time = 0;                 // of these samples
  Nanoseconds own = 0;                  // of it, that in which the kernel ran alone
  std::optional<double> tensor_active;  // 0 to 1
  double peak_flops = 0;                // that FLOPs are made of; 0: no FLOPs
  std::string peak_name;
  bool format_by_model = false;  // the number format; by the kernel's name otherwise
  std::optional<WhyNoFlops> why_no_flops;
};

// A kernel's place under the roofs of its GPU. From ncu's metrics all are means over the launches
// measured, and FLOPs are those executed, on tensor cores and outside of them: a tile larger than
// the problem counts whole; none where the capture counted only a part of them. From the GPU's
// counters see place_by_counters.
struct KernelRoofline {
  size_t row = 0;  // of the ranking
  RooflineSource source = RooflineSource::ncu;
  uint64_t launches = 0;                  // measured
  std::optional<trace::Extent> grid;      // the one that most of them had
  size_t grids = 0;                       // distinct ones measured
  std::optional<double> flops;            // a second
  std::optional<double> bytes;            // DRAM bytes a second
  std::optional<double> intensity;        // FLOP a DRAM byte
  std::optional<double> compute_percent;  // of the peak that ncu measured against (SpeedOfLight)
  std::optional<double> memory_percent;
  Bound bound = Bound::unknown;
  std::optional<KernelByCounters> by_counters;
};

bool may_use_tensor_cores(KernelClass kernel_class);

struct RooflineSamples {
  uint64_t samples = 0;     // of DRAM bytes
  uint64_t attributed = 0;  // of them, those that one kernel filled
  Nanoseconds interval = 0;
  uint64_t placed = 0;
  uint64_t too_short = 0;  // met by samples, filling none
  uint64_t unsampled = 0;
};

struct Roofline {
  bool recorded = false;  // by CPU operators' own FLOPs and bytes, against measured peaks
  std::vector<KernelRoofline> kernels;  // in the ranking's order
  profile::Reasons rule;                // the bound classes' rule with its thresholds
  profile::Reasons missing;             // what is not known of how many kernels
  // Kernels without a place by ncu, by the GPU's counters.
  std::optional<RooflineSamples> sampled;  // none without samples
};

Roofline kernel_roofline(const KernelRanking& ranking);
// The same of CPU operators, from the FLOPs and bytes that the program recorded; `cpu` null where
// its peaks are not known.
Roofline operator_roofline(const KernelRanking& ranking, const llm::GpuSpec* cpu);

}  // namespace llmprof::analysis
