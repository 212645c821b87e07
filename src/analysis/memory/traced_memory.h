#pragma once

#include "base/diagnostics.h"
#include "profile/memory.h"
#include "trace/trace.h"

namespace llmprof::analysis {

// Adds what PyTorch's allocator reported in traces: levels, peaks, and which operators hold what.
void add_traced_memory(const trace::Trace& trace, profile::Memory& memory,
                       Diagnostics& diagnostics);

}  // namespace llmprof::analysis
