#pragma once

#include <optional>
#include <vector>

#include "analysis/mfu/utilization.h"
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

// A kernel's place under the roofs of its GPU. From ncu's metrics all are means over the launches
// measured, and FLOPs are those executed, on tensor cores and outside of them: a tile larger than
// the problem counts whole; none where the capture counted only a part of them.
struct KernelRoofline : profile::RooflineKernel {
  size_t row = 0;  // of the ranking
};

bool may_use_tensor_cores(KernelClass kernel_class);

struct Roofline {
  bool recorded = false;  // by CPU operators' own FLOPs and bytes, against measured peaks
  std::vector<KernelRoofline> kernels;  // in the ranking's order
  profile::Reasons rule;                // the bound classes' rule with its thresholds
  profile::Reasons missing;             // what is not known of how many kernels
  // Kernels without a place by ncu, by the GPU's counters.
  std::optional<profile::SampledKernels> sampled;  // none without samples
};

Roofline kernel_roofline(const KernelRanking& ranking);
// The same of CPU operators, from the FLOPs and bytes that the program recorded; `cpu` null where
// its peaks are not known.
Roofline operator_roofline(const KernelRanking& ranking, const llm::GpuSpec* cpu);

// Adds kernels that have no place by ncu and that fill samples of the GPU's counters. FLOPs are the
// tensor cores' activity times their dense peak for the kernel's number format: none for kernels
// that certainly did not use them, and where the format is not known.
void place_by_counters(const trace::Trace& trace, const KernelRanking& ranking,
                       const Utilization& use, Roofline& roofline);

// With names, and what all kernels come to.
profile::Roofline named_roofline(const trace::Trace& trace, const KernelRanking& ranking,
                                 const Roofline& from);

}  // namespace llmprof::analysis
