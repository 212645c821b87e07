#pragma once

#include <filesystem>
#include <span>
#include <vector>

#include "base/error.h"
#include "base/progress.h"
#include "compare/model/sides.h"
#include "session/analysis/timings.h"

namespace llmprof::session {

// Each path is a profile.json, a folder or run id with one, or captures, which are analyzed. Adds
// to `timings` what took how long.
Result<std::vector<compare::Run>> read_side(
    std::span<const std::filesystem::path> paths,
    const std::optional<std::filesystem::path>& config_folder, Progress& progress,
    std::vector<PartTiming>& timings);

}  // namespace llmprof::session
