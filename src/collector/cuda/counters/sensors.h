#pragma once

#include <cstdint>

// Clocks, power, temperature, throttling and energy of the GPUs in use, through NVML.
namespace llmprof::collector {

// Before the first reading.
void prepare_sensors(bool wanted, uint32_t devices);

// On one thread; does nothing unless a second has passed or a reading was requested.
void read_sensors_if_due();

}  // namespace llmprof::collector
