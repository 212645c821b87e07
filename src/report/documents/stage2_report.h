#pragma once

#include <filesystem>

#include "base/error.h"
#include "profile/profile.h"
#include "report/document.h"

namespace llmprof::report {

// report.md: for the performance engineer, everything that the profile tells, the answers first.
Document stage2_document(const profile::Profile& profile);
Result<void> write_stage2_report(const profile::Profile& profile,
                                 const std::filesystem::path& path);

}  // namespace llmprof::report
