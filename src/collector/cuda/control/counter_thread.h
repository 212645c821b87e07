#pragma once

#include "collector/cuda/counters/counters.h"

// The collector's second thread, only for counters and sensors: enabling and disabling counters
// takes 0.1 s each, during which the first thread continues to hand over kernels.
namespace llmprof::collector {

void start_counter_thread(const CounterSettings& settings);
// Waits for it, up to 2 s.
void stop_counter_thread();

}  // namespace llmprof::collector
