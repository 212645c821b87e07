#pragma once

#include <optional>

#include "analysis/stages/stages.h"
#include "base/diagnostics.h"
#include "llm/model_spec.h"
#include "profile/context.h"
#include "profile/memory_ledger.h"
#include "trace/trace.h"

namespace llmprof::analysis {

// What every byte of each GPU's memory is used for, at moments. Without any reading of NVML, what
// recorded allocations hold. None without recorded allocations, or if they were not recorded from
// the program's start. `model` may be null.
std::optional<profile::MemoryLedger> find_memory_ledger(const trace::Trace& trace,
                                                        const Stages& stages,
                                                        const llm::ModelSpec* model,
                                                        const profile::Workload& workload,
                                                        Diagnostics& diagnostics);

}  // namespace llmprof::analysis
