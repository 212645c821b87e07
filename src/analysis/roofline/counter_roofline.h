#pragma once

#include "analysis/mfu/utilization.h"
#include "analysis/ranking/kernels.h"
#include "analysis/roofline/roofline.h"

namespace llmprof::analysis {

// Adds kernels that have no place by ncu and that fill samples of the GPU's counters. FLOPs are the
// tensor cores' activity times their dense peak for the kernel's number format: none for kernels
// that certainly did not use them, and where the format is not known.
void place_by_counters(const trace::Trace& trace, const KernelRanking& ranking,
                       const Utilization& use, Roofline& roofline);

}  // namespace llmprof::analysis
