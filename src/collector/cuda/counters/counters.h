#pragma once

#include <cstdint>

// Hardware counters from CUPTI's PM sampling, and NVML's sensors, as counter_set and counter_sample
// records. Missing counters are reported once, as a counters_off record.
namespace llmprof::collector {

struct CounterSettings {
  bool counters = true;
  uint32_t hertz = 0;  // samples per second; 0: default
  bool sensors = true;
  bool rounds = false;  // sampled in rounds, with pauses between them (CounterRounds)
  // Maximum share of the program's time for reading sensors; 0: no limit.
  double sensor_share = 0;
};

// These functions run on one thread, once there is a context. Choosing counters takes 0.3 s on that
// thread and does not use the GPU.
void prepare_counters(const CounterSettings& settings);
// The first start, and one after a pause, takes 0.1 s on that thread and delays the program by at
// most 2 ms (H200). In a round, which is followed by a pause, the default rate is doubled. False if
// they were already running. Call drain_counters about every 20 ms between start and stop.
bool start_counters(bool for_a_round = false);
void drain_counters();
// They stay enabled on the GPU.
void stop_counters();
// Disables them on the GPU until the next start.
void pause_counters();
// Before the process ends: CUPTI must not be left sampling.
void end_counters();

// On that thread, once counters are prepared. Does nothing unless a second has passed or a reading
// was requested, and the limit in the settings allows it.
void sample_sensors();
// From any thread, when a stage starts: takes no lock.
void request_sensors();

// Before the first reading. `share`: maximum share of the time for readings; 0: no limit.
void prepare_sensors(bool wanted, double share, uint32_t devices);
// sample_sensors, in the process that prepared them.
void read_sensors_if_due();

}  // namespace llmprof::collector
