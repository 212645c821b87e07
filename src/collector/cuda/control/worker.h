#pragma once

// The collector's first thread: collects CUPTI's records, detaches, answers `llmprof arm`.
namespace llmprof::collector {

// `sensors`: whether NVML may be loaded.
void start_worker(bool sensors);
// Waits for it, up to 2 s.
void stop_worker();

}  // namespace llmprof::collector
