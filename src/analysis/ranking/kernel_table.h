#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <tuple>
#include <vector>

#include "analysis/ranking/kernels.h"
#include "profile/profile.h"

namespace llmprof::analysis {

Calls measured_calls(const profile::Kernel& kernel);
Calls all_calls(const std::vector<profile::Kernel>& kernels);
Calls all_measured_calls(const std::vector<profile::Kernel>& kernels);

// None without calls; the share is of `all`, if given.
std::optional<profile::MeasuredTime> measured_time(const Calls& time,
                                                   const std::optional<Calls>& all = std::nullopt);

// The first 20.
std::vector<profile::KernelRecord> top_kernels(const std::vector<profile::Kernel>& kernels);

// Adds the kernel names with the longest time over all devices: over all calls, and over calls in
// measured stages. Lists at most `named_devices` devices per kernel.
void add_longest(profile::Profile& profile, size_t named_devices = SIZE_MAX);

// The ranking as the profile has it, and its first 20 rows.
std::tuple<std::vector<profile::Kernel>, std::vector<profile::KernelRecord>> ranked_kernels(
    const trace::Trace& trace, const KernelRanking& ranking,
    const std::vector<OpenedKernel>& opened, const std::vector<profile::Stage>& stages);
// Longest total first.
std::vector<profile::KernelClassTotal> ranked_classes(const KernelRanking& ranking,
                                                      const std::vector<OpenedKernel>& opened);

}  // namespace llmprof::analysis
