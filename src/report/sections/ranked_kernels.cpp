#include "report/sections/ranked_kernels.h"

#include <algorithm>

namespace llmprof::report {

bool ranks_measured_kernels(const profile::Profile& profile) {
  return std::any_of(profile.kernels.begin(), profile.kernels.end(),
                     [](const profile::Kernel& kernel) { return kernel.measured.has_value(); });
}

std::vector<RankedKernel> ranked_kernels(const profile::Profile& profile) {
  const bool measured = ranks_measured_kernels(profile);
  std::vector<RankedKernel> ranked;
  for (const profile::Kernel& kernel : profile.kernels) {
    if (!measured) {
      ranked.push_back({&kernel, kernel.total, kernel.calls, kernel.mean, kernel.share});
    } else if (const auto& time = kernel.measured) {
      ranked.push_back({&kernel, time->total, time->calls, time->mean, time->share});
    }
  }
  if (measured) {
    std::stable_sort(
        ranked.begin(), ranked.end(),
        [](const RankedKernel& a, const RankedKernel& b) { return a.total > b.total; });
  }
  return ranked;
}

std::string_view ranked_time_words(const profile::Profile& profile) {
  return ranks_measured_kernels(profile) ? "the measured stages' kernel time" : "kernel time";
}

}  // namespace llmprof::report
