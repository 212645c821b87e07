#pragma once

#include <optional>

#include "analysis/stages/stages.h"
#include "base/diagnostics.h"
#include "llm/model_spec.h"
#include "profile/memory_ledger.h"
#include "trace/trace.h"

namespace llmprof::analysis {

// What every byte of each GPU's memory is used for, at moments. None without readings of the GPU's
// memory, or if allocations were not recorded from the program's start.
std::optional<profile::MemoryLedger> find_memory_ledger(const trace::Trace& trace,
                                                        const Stages& stages,
                                                        const llm::ModelSpec* model,
                                                        Diagnostics& diagnostics);

}  // namespace llmprof::analysis
