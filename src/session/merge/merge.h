#pragma once

#include <filesystem>
#include <optional>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/progress.h"
#include "session/analysis/analyze.h"

namespace llmprof::session {

struct MergeOptions {
  std::vector<std::filesystem::path> inputs;  // partial profiles, and folders that hold them
  std::optional<std::filesystem::path> out;   // default: tmp/analyze/<run id>
  bool force = false;                         // write into a folder that is not empty
  std::optional<size_t> top;                  // rows of kernels.md; all of them by default
  std::optional<std::filesystem::path> config_folder;
};

// Makes the job's bundle of its ranks' partial profiles: what `analyze` makes of all captures, byte
// for byte. A folder without a partial profile is analyzed: it may hold the ranks' captures.
Result<Analysis> merge(const MergeOptions& options, std::string_view version, Progress& progress);

}  // namespace llmprof::session
