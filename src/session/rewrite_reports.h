#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace llmprof {

struct RewriteOptions {
  std::filesystem::path source;              // a profile.json, a folder with one, or a run id
  std::optional<std::filesystem::path> out;  // default: beside profile.json, replacing our reports
  std::optional<size_t> top;                 // rows of kernels.md; all of them by default
};

struct RewrittenReports {
  std::filesystem::path folder;
  std::vector<std::string> files;  // written into it
};

// Writes all reports again from a profile.json alone.
Result<RewrittenReports> rewrite_reports(const RewriteOptions& options, std::string_view version);

}  // namespace llmprof
