#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/error.h"
#include "profile/profile.h"
#include "report/documents/documents.h"

namespace llmprof::report {

// Writes report.md, stakeholder_summary.md, kernels.md (its `top` longest rows), operators.md and
// the plots that they show into a folder that exists. Returns their names.
Result<std::vector<std::string>> write_markdown_reports(const profile::Profile& profile,
                                                        const std::filesystem::path& folder,
                                                        size_t top = kAllKernels);

struct WrittenReports {
  std::vector<std::string> files;  // names in the folder
  std::string json;                // what profile.json holds
};

// The same, and profile.json.
Result<WrittenReports> write_reports(const profile::Profile& profile,
                                     const std::filesystem::path& folder, size_t top = kAllKernels);

}  // namespace llmprof::report
