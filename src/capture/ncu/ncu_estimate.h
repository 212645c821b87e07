#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <vector>

#include "capture/ncu/ncu_runs.h"

namespace llmprof::capture {

// How often each launch is replayed. Measured one by one on an H200 with ncu 2025.3.1; other GPUs
// and versions differ by some passes.
uint64_t predicted_passes(const NcuOptions& options);

// None where the launches or the workload's own time are unknown.
std::optional<std::chrono::seconds> predicted_time(
    const NcuOptions& options, const std::vector<NcuRun>& runs,
    std::optional<std::chrono::milliseconds> workload_time);

// Before a timeline has shown which launches there are: `kernels` of each stage are going to be
// measured; none where no timeline will choose any. `gated`: by NVTX ranges of the program.
std::chrono::milliseconds predicted_time_unseen(const NcuOptions& options,
                                                std::optional<uint64_t> kernels, bool gated,
                                                std::chrono::milliseconds workload_time);

}  // namespace llmprof::capture
