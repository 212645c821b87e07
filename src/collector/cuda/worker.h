#pragma once

// The collector's own thread: hands over what CUPTI recorded, drains counters, listens to `llmprof
// arm`.
namespace llmprof::collector {

void start_worker();
// Waits for it, but not for long.
void stop_worker();

}  // namespace llmprof::collector
