#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analysis/counters/counter_series.h"
#include "analysis/mfu/utilization.h"
#include "analysis/stages/stages.h"
#include "profile/reasons.h"

namespace llmprof::analysis {

// What the GPU's own counters and sensors say of a stage, by time: all that the GPU did in the
// instances' windows counts, whoever did it. Of instances that are not warm-up; none where the
// metric is missing.
struct StageCounters {
  uint32_t stage = 0;
  uint64_t instances = 0;  // measured
  // Those with samples from end to end, or, where there are none, with enough: the collector does
  // not sample all the time. Bytes, MBU and activity are of these alone; clocks, power and energy
  // are of all.
  uint64_t sampled_instances = 0;
  // Share of the sampled instances' wall time with samples of DRAM bytes, of the SMs' activity
  // without; of all instances' where none has enough.
  std::optional<double> coverage;
  // A sampled instance, mean. Where samples cover only a part, scaled to the whole wall time.
  std::optional<double> read_bytes;
  std::optional<double> write_bytes;
  std::optional<double> mbu_wall;
  std::optional<double> mbu_busy;          // of traced steps alone where others were not traced
  double peak_bandwidth = 0;               // bytes a second, 0: not known
  std::optional<double> bytes_over_model;  // read and written over what the model must move
  // Means over the wall time, 0 to 1.
  std::optional<double> tensor_active;
  std::optional<double> sm_active;

  // An instance, mean; steps of a decode only. Tokens: generated, or a prefill's prompt tokens. 0:
  // not known.
  double steps = 0;
  double tokens = 0;
  double sampled_steps = 0;  // of a sampled instance
  double sampled_tokens = 0;
  std::optional<double> energy;  // J an instance, mean
  std::string energy_source;     // "energy counter", "power over time"
  profile::Reasons energy_why_not;
  // Read and written; none where one of them is not known.
  [[nodiscard]] std::optional<double> bytes() const {
    if (!read_bytes || !write_bytes) return std::nullopt;
    return *read_bytes + *write_bytes;
  }
  [[nodiscard]] std::optional<double> energy_per_token() const { return over(energy, tokens); }
  // Of bytes.
  [[nodiscard]] std::optional<double> per_token(const std::optional<double>& bytes) const {
    return over(bytes, sampled_tokens);
  }
  [[nodiscard]] std::optional<double> per_step(const std::optional<double>& bytes) const {
    return over(bytes, sampled_steps);
  }

  struct Sensor {
    double mean = 0;
    double min = 0;
    double max = 0;
    uint64_t samples = 0;
  };
  std::optional<Sensor> sm_clock;      // MHz
  std::optional<Sensor> memory_clock;  // MHz
  std::optional<Sensor> power;         // W
  std::optional<Sensor> temperature;   // C
  double highest_sm_clock = 0;         // MHz, of the GPU; 0: not known
  // Of the samples; a reason may hold together with others.
  struct Throttled {
    ThrottleReason reason;
    double share = 0;
  };
  std::vector<Throttled> throttled;  // the most frequent first
  uint64_t throttle_samples = 0;
  profile::Reasons why_not;  // why a figure is missing that samples would give

 private:
  static std::optional<double> over(const std::optional<double>& value, double count) {
    if (!value || count <= 0) return std::nullopt;
    return *value / count;
  }
};

struct Counters {
  std::vector<StageCounters> stages;  // one per stage; empty where nothing was sampled
  // DRAM bytes of each step, by time: one per step; empty without samples.
  std::vector<std::optional<double>> step_bytes;
  // Whether heat, power or hardware lowered the clocks, one per step and per instance; none where
  // no sensor was read shortly before. Empty without samples.
  std::vector<std::optional<bool>> step_slowed;
  std::vector<std::optional<bool>> instance_slowed;
};

Counters attribute_counters(const trace::Trace& trace, const Stages& stages,
                            const Utilization& use);

}  // namespace llmprof::analysis
