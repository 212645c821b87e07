#pragma once

#include <string>

#include "profile/memory.h"
#include "profile/memory_ledger.h"

namespace llmprof::analysis {

// The GPU's snapshot with the highest peak: one that was written when an allocation failed may be
// beside the one of the end. Null without one.
const profile::MemoryDevice* largest_snapshot(const profile::Memory& memory,
                                              const std::string& device);

// Adds what a snapshot shows of PyTorch's rows, after loading and at the peak. None for a GPU that
// several processes use: the snapshot does not say whose it is.
void add_ledger_contents(const profile::Memory& memory, profile::MemoryLedger& ledger);

}  // namespace llmprof::analysis
