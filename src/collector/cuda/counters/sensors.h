#pragma once

#include <cstdint>

// Clocks, power, temperature, throttling and energy of the GPUs in use, through NVML.
namespace llmprof::collector {

// Before the first reading. `share`: the most of the time that readings may take; 0: no limit.
void prepare_sensors(bool wanted, double share, uint32_t devices);

// On one thread; does nothing unless a second has passed or a reading was requested, nor sooner
// than the share allows.
void read_sensors_if_due();

}  // namespace llmprof::collector
