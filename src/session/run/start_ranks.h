#pragma once

#include "base/error.h"
#include "session/options/run_options.h"

namespace llmprof::session {

// Puts mpirun in front of a workload that runs as several ranks (workload.ranks), as root too and
// with more ranks than cores. An error names the package where mpirun is missing. Other workloads
// stay as they are.
Result<void> start_under_mpirun(RunOptions& options);

}  // namespace llmprof::session
