#pragma once

namespace llmprof::collector {

// Writes what the driver says of itself and its devices, and the rank variables: once a process,
// when cuInit has returned. One thread at a time. NVML is for the collector's own thread: it takes
// its time.
void write_driver_facts(bool may_ask_nvml);

// Waits for what the program has launched, where this thread has a context.
void synchronize_context();

}  // namespace llmprof::collector
