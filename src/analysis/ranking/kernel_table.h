#pragma once

#include <cstddef>
#include <tuple>
#include <vector>

#include "analysis/ranking/kernels.h"
#include "profile/profile.h"

namespace llmprof::analysis {

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

// The ranking as the profile has it, and its first 20 rows.
std::tuple<std::vector<profile::Kernel>, std::vector<profile::KernelRecord>> ranked_kernels(
    const trace::Trace& trace, const KernelRanking& ranking,
    const std::vector<OpenedKernel>& opened, const std::vector<profile::Stage>& stages);
// Longest total first.
std::vector<profile::KernelClassTotal> ranked_classes(const KernelRanking& ranking,
                                                      const std::vector<OpenedKernel>& opened);

}  // namespace llmprof::analysis
