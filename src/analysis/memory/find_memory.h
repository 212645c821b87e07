#pragma once

#include <optional>

#include "analysis/memory/memory_contents.h"
#include "base/diagnostics.h"
#include "profile/memory.h"
#include "trace/trace.h"

namespace llmprof::analysis {

// GPU memory inside PyTorch, by its memory snapshots and by what its traces report; none without
// any.
std::optional<profile::Memory> find_memory(const trace::Trace& trace,
                                           const ContentEvidence& evidence,
                                           Diagnostics& diagnostics);

}  // namespace llmprof::analysis
