#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/profile.h"
#include "base/error.h"
#include "report/kernel_report.h"

namespace llmprof::report {

struct WrittenReports {
  std::vector<std::string> files;  // names in the folder
  std::string json;                // what profile.json holds
};

// Writes kernels.md (its `top` longest rows), operators.md, report.md, stakeholder_summary.md and
// profile.json into a folder that exists.
Result<WrittenReports> write_reports(const analysis::Profile& profile,
                                     const std::filesystem::path& folder,
                                     std::string_view tool_version, size_t top = kAllKernels);

}  // namespace llmprof::report
