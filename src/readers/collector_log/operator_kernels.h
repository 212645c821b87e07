#pragma once

#include <vector>

#include "trace/builder.h"

namespace llmprof::readers::collector_log {

// The operators that are collectives, in the order of their rows from `first` on.
struct CollectiveOperators {
  size_t first = 0;
  std::vector<size_t> operators;  // rows
};

// Makes the CPU operators from row `first` on, all of one process, kernels of the device cpu:0,
// each launched by its own thread at its own start, so that analyses treat them as they treat a
// GPU's. Of operators inside each other only the innermost are kernels: their time counts once.
// Collectives get the correlations of their kernels. `last_correlation` is the largest that the
// process's CUDA calls have. Returns how many operators have others inside them.
uint64_t add_operator_kernels(trace::TraceBuilder& builder, trace::ProcessId process, size_t first,
                              const CollectiveOperators& collectives, uint32_t last_correlation);

}  // namespace llmprof::readers::collector_log
