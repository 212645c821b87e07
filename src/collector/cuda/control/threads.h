#pragma once

#include "collector/cuda/counters/counters.h"

// The collector's threads. The first collects CUPTI's records, detaches, and answers `llmprof arm`.
// The second is for counters and sensors only: enabling and disabling counters takes 0.1 s each,
// during which the first continues to hand over kernels.
namespace llmprof::collector {

void start_threads(const CounterSettings& settings);
// Waits for them, up to 2 s each.
void stop_threads();

// Makes both check for work at once.
void wake_collector();

}  // namespace llmprof::collector
