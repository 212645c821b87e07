#pragma once

#include <optional>
#include <string>

#include "base/error.h"
#include "session/options/run_options.h"

namespace llmprof::session {

// Puts mpirun in front of a workload that runs as several ranks (workload.ranks), as root too and
// with more ranks than cores. An error names the package where mpirun is missing. Other workloads
// stay as they are.
Result<void> start_under_mpirun(RunOptions& options);

// Where a workload's ranks are more than the machine has cores: that they share them, and in how
// many runs. It takes long, and without a word.
std::optional<std::string> crowded_ranks(const RunOptions& options, size_t runs);

}  // namespace llmprof::session
