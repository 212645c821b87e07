#pragma once

#include "collector/cuda/counters.h"

// The collector's own thread: hands over what CUPTI recorded, drains counters, listens to `llmprof
// arm`.
namespace llmprof::collector {

void start_worker(const CounterSettings& counters);
// Waits for it, but not for long.
void stop_worker();

}  // namespace llmprof::collector
