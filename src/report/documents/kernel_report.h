#pragma once

#include <filesystem>
#include <limits>
#include <span>
#include <string>

#include "base/error.h"
#include "profile/profile.h"
#include "report/document.h"

namespace llmprof::report {

inline constexpr size_t kAllKernels = std::numeric_limits<size_t>::max();

// The n kernels with the longest total, longest first.
std::span<const profile::Kernel> top_n_kernels(const profile::Profile& profile, size_t n);

// kernels.md: the ranking with the columns kernel_name, total_ms, calls, mean_ms, device, share,
// class, short_name; then the same by class, and what the reader must know about the capture.
Document kernel_document(const profile::Profile& profile, size_t top = kAllKernels);
Result<void> write_kernel_markdown(const profile::Profile& profile,
                                   const std::filesystem::path& path, size_t top = kAllKernels);

// Shared with the overview on the terminal, as sentences.
// How many kernels, how much time, on what.
std::string kernel_totals_sentence(const profile::Profile& profile);
// How the launches that a kernel profiler measured fit the timeline; empty where there are none.
std::string metric_join_sentence(const profile::Profile& profile);
// What a table of the `shown` longest kernels leaves out; empty where that is nothing.
std::string other_kernels_sentence(const profile::Profile& profile, size_t shown);

}  // namespace llmprof::report
