#pragma once

#include "profile/memory.h"
#include "profile/memory_ledger.h"

namespace llmprof::analysis {

// Adds what a snapshot shows of PyTorch's rows, after loading and at the peak. None for a GPU that
// several processes use: the snapshot does not say whose it is.
void add_ledger_contents(const profile::Memory& memory, profile::MemoryLedger& ledger);

}  // namespace llmprof::analysis
