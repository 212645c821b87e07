#pragma once

#include <filesystem>

#include "base/error.h"

namespace llmprof::session {

// The report.html of a run: `run` is its folder, a run id under tmp/stage2 or tmp/analyze, or the
// page itself. An absolute path.
Result<std::filesystem::path> find_page(const std::filesystem::path& run);

}  // namespace llmprof::session
