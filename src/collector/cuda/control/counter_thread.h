#pragma once

#include "collector/cuda/counters/counters.h"

// A thread of the collector for counters and sensors alone: taking counters from the GPU and giving
// them back takes a tenth of a second each, and kernels are handed over meanwhile.
namespace llmprof::collector {

void start_counter_thread(const CounterSettings& settings);
// Waits for it, but not for long.
void stop_counter_thread();

}  // namespace llmprof::collector
