#pragma once

#include <cstdint>

// Hardware counters by CUPTI's PM sampling, and NVML's sensors, as counter_set and counter_sample
// records. What is missing is told once, as a counters_off record.
namespace llmprof::collector {

struct CounterSettings {
  bool counters = true;
  uint32_t hertz = 0;  // samples a second; 0: chosen
  bool sensors = true;
  bool rounds = false;  // sampled in rounds, with rests between them (CounterRounds)
};

// All on one thread, once there is a context. Choosing counters takes 0.3 s of that thread and
// nothing of the GPU.
void prepare_counters(const CounterSettings& settings);
// The first one, and one after a rest, takes 0.1 s of that thread and holds the program up by at
// most 2 ms (H200). For a round, after which they rest, the usual rate is doubled. False: they were
// running. drain_counters is called every 20 ms or so between start and stop.
bool start_counters(bool for_a_round = false);
void drain_counters();
// They stay set up.
void stop_counters();
// Gives them back to the GPU until the next start.
void rest_counters();
// For good, before the process ends: CUPTI does not like to be left sampling.
void end_counters();

// On that thread; does nothing unless a second has passed or sensors were asked for.
void sample_sensors();
// From any thread, at a stage's edge: takes no lock.
void ask_for_sensors();

}  // namespace llmprof::collector
