#pragma once

#include <filesystem>

#include "analysis/profile.h"
#include "base/error.h"
#include "report/document.h"

namespace llmprof::report {

// report.md: for the performance engineer, everything that the profile tells, the answers first.
Document stage2_document(const analysis::Profile& profile);
Result<void> write_stage2_report(const analysis::Profile& profile,
                                 const std::filesystem::path& path);

}  // namespace llmprof::report
