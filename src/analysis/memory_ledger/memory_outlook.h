#pragma once

#include <optional>
#include <string>

#include "llm/model_spec.h"
#include "profile/context.h"
#include "profile/memory.h"
#include "profile/memory_ledger.h"

namespace llmprof::analysis {

// What is left of a GPU at its peak, the last moment of that kind; none without a peak. `model` may
// be null.
std::optional<profile::MemoryHeadroom> find_headroom(const profile::MemoryLedger& ledger,
                                                     const std::string& device,
                                                     const llm::ModelSpec* model);

// Adds how many more sequences fit into what is left, and whether larger runs do. Nothing without a
// model or without readings.
void add_room(const profile::MemoryHeadroom& left, const llm::ModelSpec* model,
              const profile::Workload& workload, profile::MemoryLedger& ledger);

// Whether PyTorch's largest allocation, by its snapshots, fits once more.
void forecast_fragmentation(const profile::Memory& memory, profile::MemoryLedger& ledger);

}  // namespace llmprof::analysis
