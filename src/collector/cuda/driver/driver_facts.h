#pragma once

namespace llmprof::collector {

// Writes the properties of the driver and its devices, and the rank variables anew: once per
// process, after cuInit has returned. One thread at a time. `may_ask_nvml` only on the collector's
// own thread: NVML is slow.
void write_driver_facts(bool may_ask_nvml);

// Waits for what the program has launched, if this thread has a context.
void synchronize_context();

}  // namespace llmprof::collector
