#pragma once

#include <filesystem>

#include "analysis/profile.h"
#include "base/error.h"
#include "report/document.h"

namespace llmprof {

// report.md: for the performance engineer, everything that the profile tells, the answers first.
Document stage2_document(const Profile& profile);
Result<void> write_stage2_report(const Profile& profile, const std::filesystem::path& path);

}  // namespace llmprof
