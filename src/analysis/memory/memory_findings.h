#pragma once

#include <optional>
#include <vector>

#include "profile/findings.h"
#include "profile/memory.h"
#include "profile/memory_ledger.h"

namespace llmprof::analysis {

// Memory that was held and not used, and allocations that failed because of how memory was split:
// each with its bytes, none with a saving of time, by kind.
std::vector<profile::Finding> find_memory_findings(
    const std::optional<profile::Memory>& memory,
    const std::optional<profile::MemoryLedger>& ledger);

}  // namespace llmprof::analysis
