#pragma once

#include <optional>

#include "llm/model_spec.h"
#include "profile/context.h"
#include "profile/memory_ledger.h"
#include "profile/requests.h"

namespace llmprof::analysis {

// Completes the headroom: what a snapshot shows of the KV cache, how many of its tokens were in use
// at a time, and how often the weights are there.
void add_cache_use(const std::optional<profile::Requests>& requests,
                   const profile::Workload& workload, const llm::ModelSpec* model,
                   profile::MemoryLedger& ledger);

}  // namespace llmprof::analysis
