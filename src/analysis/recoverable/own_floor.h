#pragma once

#include <optional>

#include "analysis/roofline/roofline.h"
#include "llm/gpu_spec.h"
#include "profile/reasons.h"

namespace llmprof::analysis {

// The least time of one launch by what a kernel profiler counted of it.
struct OwnFloor {
  double each = 0;  // ns per launch: its DRAM bytes or its FLOPs at the GPU's peak, the longer
  profile::Reasons rule;
};

// None where bytes, FLOPs or duration were not measured, where launches of several grids were
// (their mean is of none of them), and without the peak of what the kernel multiplies.
std::optional<OwnFloor> own_floor(const KernelRow& row, const KernelRoofline& measured,
                                  const llm::GpuSpec& gpu);

}  // namespace llmprof::analysis
