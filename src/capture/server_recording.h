#pragma once

#include "base/error.h"
#include "capture/workload.h"

namespace llmprof::capture {

// record_workload for a workload that is a server: `command` is the server's, with its limits and
// with the tool in front.
Result<CommandRecord> record_server(const WorkloadCommand& workload,
                                    const WorkloadRecording& recording, const Command& command);

}  // namespace llmprof::capture
