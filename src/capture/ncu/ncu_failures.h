#pragma once

#include "capture/capture_result.h"
#include "capture/ncu/ncu_messages.h"
#include "capture/ncu/ncu_runs.h"

namespace llmprof::capture {

// Why a run under ncu left nothing to read, and what to do about it.
Error failed_ncu_run(const CommandRecord& record, const NcuRunMessages& messages,
                     const NcuRun& run);

// Another stage would fail in the same way.
bool concerns_all_stages(const CommandRecord& record, const NcuRunMessages& messages);

// "--nvtx-include LLM@decode_all/, 8 kernels by name, --launch-count 3": for messages.
std::string describe_filter(const NcuRun& run);

}  // namespace llmprof::capture
