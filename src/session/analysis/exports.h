#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "exports/export_source.h"
#include "session/analysis/analyze_options.h"

namespace llmprof::session {

struct WrittenExports {
  std::vector<std::string> files;  // names in the folder
  std::optional<Error> failed;     // the first that could not be written; the others are
};

// Writes the files for other viewers that were asked for into a folder that exists, in place of
// those of an earlier analysis.
WrittenExports write_exports(const Exports& wanted, const exports::ExportSource& source,
                             const std::filesystem::path& folder);

// Of a job: one Perfetto file of all ranks, and a flame graph per rank
// (trace.rank3.speedscope.json).
WrittenExports write_exports(const Exports& wanted,
                             const Result<std::vector<exports::RankSource>>& ranks,
                             std::string_view version, const std::filesystem::path& folder);

}  // namespace llmprof::session
