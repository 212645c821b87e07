#pragma once

#include <cstdint>

// Clocks, power, temperature, throttling and energy of the GPUs in use, through NVML.
namespace llmprof::collector {

// On the thread that initialises CUDA.
void prepare_sensors(bool wanted, uint32_t devices);

// On one thread; does nothing unless a second has passed or they were asked for.
void read_sensors_where_due();

}  // namespace llmprof::collector
