#pragma once

#include <algorithm>

#include "profile/kernels.h"

namespace llmprof::report {

// Whether a kernel's place in the roofline is of samples of the GPU's counters.
inline bool is_by_counters(const profile::RooflineKernel& kernel) {
  return kernel.source == profile::RooflineSource::counters;
}

// Counters say nothing of units other than the tensor cores, and so nothing of latency.
inline bool latency_is_known(const profile::Roofline& roofline) {
  return !std::all_of(roofline.kernels.begin(), roofline.kernels.end(), is_by_counters);
}

}  // namespace llmprof::report
