#pragma once

#include <cstdint>

// Hardware counters by CUPTI's PM sampling, and NVML's sensors, as counter_set and counter_sample
// records. What is missing is told once, as a counters_off record.
namespace llmprof::collector {

struct CounterSettings {
  bool counters = true;
  uint32_t hertz = 0;  // samples a second; 0: chosen
  bool sensors = true;
};

// All on the collector's thread, once there is a context. Setting up takes 0.4 s of that thread and
// holds the program up by at most 2 ms (H200).
void prepare_counters(const CounterSettings& settings);
// drain_counters is called every 20 ms or so between start and stop.
void start_counters();
void drain_counters();
void stop_counters();
// For good, before the process ends: CUPTI does not like to be left sampling.
void end_counters();

// On the collector's thread; does nothing unless a second has passed or sensors were asked for.
void sample_sensors();
// From any thread, at a stage's edge: takes no lock.
void ask_for_sensors();

}  // namespace llmprof::collector
