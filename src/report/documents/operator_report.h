#pragma once

#include <filesystem>

#include "base/error.h"
#include "profile/profile.h"
#include "report/document.h"

namespace llmprof::report {

// operators.md: name, calls, cpu_total_ms, cpu_self_ms, cuda_total_ms, cuda_self_ms, mean_ms, by
// GPU time; or why there are none.
Document operator_document(const profile::Profile& profile);
Result<void> write_operator_markdown(const profile::Profile& profile,
                                     const std::filesystem::path& path);

}  // namespace llmprof::report
