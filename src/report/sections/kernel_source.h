#pragma once

#include <algorithm>
#include <string_view>

#include "profile/kernels.h"

namespace llmprof::report {

// Whether a kernel's place in the roofline is of samples of the GPU's counters.
inline bool is_by_counters(const profile::RooflineKernel& kernel) {
  return kernel.source == "counters";
}

// Counters say nothing of units other than the tensor cores, and so nothing of latency.
inline bool latency_is_known(const profile::Roofline& roofline) {
  return !std::all_of(roofline.kernels.begin(), roofline.kernels.end(), is_by_counters);
}

// What stands in place of FLOP/s: "no tensor activity".
inline std::string_view why_no_flops_words(std::string_view why) {
  if (why == "no_tensor_activity") return "no tensor activity";
  if (why == "format_unknown") return "number format not known";
  if (why == "peak_unknown") return "peak not known";
  return "tensor cores not sampled";
}

}  // namespace llmprof::report
