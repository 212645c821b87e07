#pragma once

#include <filesystem>

#include "readers/shared/reader.h"

namespace llmprof::readers {

// The SQLite export of Nsight Systems, 2020 to 2026: kernels, memory operations, graph replays,
// CUDA API calls, NVTX ranges.
extern const Reader kNsysSqliteReader;

// Whether an nsys export holds a kernel, or a CUDA graph that was traced as a whole. True as well
// where the file cannot be read: its reader reports that with the cause.
bool holds_gpu_kernels(const std::filesystem::path& sqlite_export);

}  // namespace llmprof::readers
