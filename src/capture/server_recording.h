#pragma once

#include "base/error.h"
#include "capture/workload.h"

namespace llmprof::capture {

// run_pass for a workload that is a server: `command` is the server's, with its limits and with the
// tool in front.
Result<CommandRecord> run_server_pass(const WorkloadCommand& workload, const WorkloadPass& pass,
                                      const Command& command);

}  // namespace llmprof::capture
