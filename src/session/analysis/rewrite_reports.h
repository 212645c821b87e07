#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/progress.h"
#include "session/analysis/analyze_options.h"
#include "session/analysis/run_page.h"

namespace llmprof::session {

struct RewriteOptions {
  std::filesystem::path source;              // a profile.json, a folder with one, or a run id
  std::optional<std::filesystem::path> out;  // default: beside profile.json, replacing our reports
  std::optional<size_t> top;                 // rows of kernels.md; all of them by default
  Exports exports;                           // made of the captures in the folder
};

struct RewrittenReports {
  std::filesystem::path folder;
  std::vector<std::string> files;  // written into it, but the page
  PageOutcome page;
  std::optional<Error> not_exported;  // why a file for another viewer is missing
};

// Writes all reports again from a profile.json alone; the page's timeline and files for other
// viewers from the captures, where a folder was named and they are at hand. profile.json itself is
// copied into another folder, and stays as it is beside the reports it made.
Result<RewrittenReports> rewrite_reports(const RewriteOptions& options, std::string_view version,
                                         Progress& progress);

}  // namespace llmprof::session
