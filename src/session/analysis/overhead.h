#pragma once

#include <filesystem>
#include <vector>

#include "profile/context.h"
#include "profile/run.h"

namespace llmprof::session {
namespace fs = std::filesystem;

// The cost of each pass of a run, from stage1/metrics.json (the control run) and the metrics.json
// in the pass's folder; if they have no stage in common, from the durations in status.json. Empty
// if the folder is not a run, or nothing was timed twice.
std::vector<profile::PassOverhead> measure_overhead(const fs::path& run);

// How busy the CPUs were in each pass, from its status.json; passes without this value are skipped.
std::vector<profile::PassLoad> machine_load(const fs::path& run);

}  // namespace llmprof::session
