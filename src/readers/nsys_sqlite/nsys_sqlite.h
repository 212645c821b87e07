#pragma once

#include "readers/shared/reader.h"

namespace llmprof::readers {

// The SQLite export of Nsight Systems, 2020 to 2026: kernels, memory operations, graph replays,
// CUDA API calls, NVTX ranges.
extern const Reader kNsysSqliteReader;

}  // namespace llmprof::readers
