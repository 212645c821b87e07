#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/error.h"
#include "base/progress.h"
#include "query/database.h"

namespace llmprof::session {
namespace fs = std::filesystem;

// Shows the progress of one piece of reading.
using MakeProgress = std::function<std::unique_ptr<Progress>()>;

// Runs to query, one per path: the folder of a run or an analysis, its id under tmp/stage2 or
// tmp/analyze, a profile.json, or a capture or folder of captures. What profile.json contains is
// not computed again: single events are read from the captures once a statement needs them. A
// capture is read and analyzed as by `llmprof analyze`. Runs are named after their files, without
// folders.
Result<std::vector<query::Run>> open_runs(std::span<const fs::path> paths,
                                          const std::optional<fs::path>& config_folder,
                                          const MakeProgress& make_progress);

}  // namespace llmprof::session
