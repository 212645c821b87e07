#pragma once

#include <filesystem>
#include <vector>

#include "profile/context.h"
#include "profile/run.h"

namespace llmprof::session {
namespace fs = std::filesystem;

// What each pass of a run cost, from stage1/metrics.json (the control run) and the metrics.json of
// the pass's folder; where these time no stage in common, from the durations in status.json. Empty
// where a folder is not a run, or nothing was timed twice.
std::vector<profile::PassOverhead> measure_overhead(const fs::path& run);

// How busy the CPUs were in each pass, as its status.json says; without passes that do not.
std::vector<profile::PassLoad> machine_load(const fs::path& run);

}  // namespace llmprof::session
