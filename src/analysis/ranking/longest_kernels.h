#pragma once

#include <cstddef>
#include <vector>

#include "profile/profile.h"

namespace llmprof::analysis {

struct Calls {
  uint64_t calls = 0;
  Nanoseconds total = 0;

  [[nodiscard]] profile::Milliseconds mean() const {
    return profile::to_milliseconds(static_cast<double>(total) /
                                    static_cast<double>(calls == 0 ? 1 : calls));
  }
};
Calls measured_calls(const profile::Kernel& kernel);
Calls all_calls(const std::vector<profile::Kernel>& kernels);
Calls all_measured_calls(const std::vector<profile::Kernel>& kernels);

// The first 20.
std::vector<profile::KernelRecord> top_kernels(const std::vector<profile::Kernel>& kernels);

// Kernel names with the longest time over all devices: over all calls, and over calls in measured
// stages.
struct LongestKernels {
  std::vector<profile::KernelOnAllDevices> all;
  std::vector<profile::KernelOnAllDevices> measured;
};
// Lists at most `named_devices` devices per kernel.
LongestKernels longest_kernels(const std::vector<profile::Kernel>& kernels, size_t named_devices);
void fill_longest(LongestKernels&& kernels, profile::Profile& profile);

}  // namespace llmprof::analysis
