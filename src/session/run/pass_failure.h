#pragma once

#include <optional>

#include "base/error.h"
#include "capture/workload_pass.h"

namespace llmprof {

// Why a run of the workload did not end well, with where its output is; none where it did.
std::optional<Error> pass_failure(const CommandRecord& record, const WorkloadPass& pass);

}  // namespace llmprof
