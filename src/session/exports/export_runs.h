#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/progress.h"
#include "session/query/open_runs.h"

namespace llmprof::session {

struct ExportRequest {
  std::vector<fs::path> runs;   // as for open_runs
  std::string_view format;      // a name of kExports
  std::optional<fs::path> out;  // "-": standard output, for formats in one text
  bool force = false;           // replaces an earlier export
  std::optional<fs::path> config_folder;
};

struct ExportedRuns {
  fs::path path;
  std::string content;             // "14 tables, 4,465 rows"
  std::vector<std::string> lacks;  // what these runs do not have, and why
  bool is_stream = false;          // written to standard output, a pipe or a device
};

// Writes runs in a format for other programs, completely or not at all. Only tables hold several
// runs.
Result<ExportedRuns> export_runs(const ExportRequest& request, const MakeProgress& make_progress);

}  // namespace llmprof::session
