#pragma once

#include <filesystem>
#include <limits>
#include <vector>

#include "analysis/profile.h"
#include "base/error.h"
#include "report/document.h"
#include "trace/kernel_record.h"

namespace llmprof::report {

inline constexpr size_t kAllKernels = std::numeric_limits<size_t>::max();

// The ranking in the seed's terms, longest total first.
std::vector<trace::KernelRecord> kernel_records(const analysis::Profile& profile);
std::vector<trace::KernelRecord> top_n_kernels(std::vector<trace::KernelRecord> records,
                                               size_t n = 20);

// kernels.md: the ranking with the columns kernel_name, total_ms, calls, mean_ms, device, share,
// class, short_name; then the same by class, and what the reader must know about the capture.
Document kernel_document(const analysis::Profile& profile, size_t top = kAllKernels);
Result<void> write_kernel_markdown(const analysis::Profile& profile,
                                   const std::filesystem::path& path, size_t top = kAllKernels);

// The short version for the terminal.
Document kernel_overview(const analysis::Profile& profile, size_t top);

}  // namespace llmprof::report
