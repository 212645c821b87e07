#pragma once

#include <optional>

#include "base/error.h"
#include "capture/capture_result.h"

namespace llmprof::session {

// Why a run of the workload did not end well, with where its output is; none where it did.
std::optional<Error> pass_failure(const capture::CommandRecord& record);

}  // namespace llmprof::session
