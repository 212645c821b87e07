#pragma once

#include <filesystem>
#include <optional>
#include <string_view>

#include "base/error.h"

namespace llmprof::session {
namespace fs = std::filesystem;

// A folder belongs to one run. What an earlier run left in a folder that is used again goes into
// `previous-1` in it (previous-2, ... after that), a run's folder like any other; nothing that
// reads the folder looks into these.

// Moves what a run, an analysis or the ranks of a job leave; whatever else is there stays. Gives
// the folder it is in now; none where there was nothing.
Result<std::optional<fs::path>> move_earlier_run_aside(const fs::path& root);

// Of a job whose ranks have a folder each: what is there for all of them together, and the folders
// of ranks that a job of `world_size` does not have.
Result<std::optional<fs::path>> move_earlier_job_aside(const fs::path& root,
                                                       std::optional<uint64_t> world_size);

// Whether a folder of this name holds an earlier run.
bool is_earlier_run(const fs::path& folder);

// The ncu folder of the last earlier run that used ncu, if it was interrupted there; none where
// nothing is to be continued.
std::optional<fs::path> interrupted_ncu_capture(const fs::path& root);

}  // namespace llmprof::session
