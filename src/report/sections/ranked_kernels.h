#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "profile/profile.h"

namespace llmprof::report {

// A kernel with the time that reports rank it by.
struct RankedKernel {
  const profile::Kernel* kernel = nullptr;
  profile::Milliseconds total;
  uint64_t calls = 0;
  profile::Milliseconds mean;
  std::optional<profile::Share> share;
};

// Whether kernels are ranked by their time in the stages, warm-up excluded.
bool ranks_measured_kernels(const profile::Profile& profile);

// Longest first: those of the measured stages, or all where there are no stages.
std::vector<RankedKernel> ranked_kernels(const profile::Profile& profile);

// What shares are of: "the measured stages' kernel time", "kernel time".
std::string_view ranked_time_words(const profile::Profile& profile);

}  // namespace llmprof::report
