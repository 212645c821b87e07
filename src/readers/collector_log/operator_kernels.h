#pragma once

#include "trace/builder.h"

namespace llmprof::readers::collector_log {

// Makes the CPU operators from row `first` on, all of one process, kernels of the device cpu:0,
// each launched by its own thread at its own start, so that analyses treat them as they treat a
// GPU's. Of operators inside each other only the innermost are kernels: their time counts once.
// `last_correlation` is the largest that the process's CUDA calls have. Returns how many operators
// have others inside them.
uint64_t add_operator_kernels(trace::TraceBuilder& builder, trace::ProcessId process, size_t first,
                              uint32_t last_correlation);

}  // namespace llmprof::readers::collector_log
