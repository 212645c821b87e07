#pragma once

// The collector's first thread: hands over what CUPTI recorded, detaches, listens to `llmprof arm`.
namespace llmprof::collector {

// `sensors`: whether clocks and power may be asked for.
void start_worker(bool sensors);
// Waits for it, but not for long.
void stop_worker();

}  // namespace llmprof::collector
