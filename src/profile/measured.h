#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "profile/quantity.h"
#include "profile/reasons.h"

namespace llmprof::profile {

template <class Value>
struct Sensor {
  Value mean;
  Value min;
  Value max;
  uint64_t samples = 0;

  static void fields(auto& field) {
    field("mean", &Sensor::mean, "mean of the samples read within instances");
    field("min", &Sensor::min, "smallest value");
    field("max", &Sensor::max, "largest value");
    field("samples", &Sensor::samples, "number of samples");
  }
};

struct ThrottleReason {
  std::string reason;
  bool slowing = false;
  Share share_of_samples;

  static void fields(auto& field) {
    field("reason", &ThrottleReason::reason, "reason, as text");
    field("slowing", &ThrottleReason::slowing, "heat, power or hardware lowered the clocks");
    field("share_of_samples", &ThrottleReason::share_of_samples,
          "share of samples with this reason");
  }
};

// Counter and sensor values of a stage, assigned by time; warm-up excluded.
struct Measured {
  uint64_t instances = 0;
  uint64_t sampled_instances = 0;
  std::optional<Share> coverage_share_of_wall;
  std::optional<Bytes> dram_read;
  std::optional<Bytes> dram_write;
  std::optional<Bytes> dram;
  std::optional<Bytes> dram_per_step;
  std::optional<Bytes> dram_read_per_step;
  std::optional<Bytes> dram_write_per_step;
  std::optional<Bytes> dram_read_per_token;
  std::optional<Bytes> dram_write_per_token;
  std::optional<Share> bytes_over_model;
  Ratios mbu;
  std::optional<BytesPerSecond> peak_bandwidth;
  std::optional<Share> sm_active;
  std::optional<Share> tensor_active;
  std::optional<double> steps;
  std::optional<double> tokens;
  std::optional<double> sampled_steps;
  std::optional<double> sampled_tokens;
  std::optional<Joules> energy;
  std::optional<Joules> energy_per_token;
  std::optional<std::string> energy_source;
  std::optional<std::string> energy_why_not;
  std::optional<Sensor<Hertz>> sm_clock;
  std::optional<Hertz> highest_sm_clock;
  std::optional<Sensor<Hertz>> memory_clock;
  std::optional<Sensor<Watts>> power;
  std::optional<Sensor<DegreesCelsius>> temperature;
  std::vector<ThrottleReason> throttle_reasons;
  std::optional<std::string> why_not;
  uint64_t throttle_samples = 0;
  Reasons why_not_reasons;
  Reasons energy_why_not_reasons;

  static void fields(auto& field) {
    using Self = Measured;
    field("instances", &Self::instances, "measured instances");
    field("sampled_instances", &Self::sampled_instances,
          "instances that samples cover from end to end (95 % of their wall time); if there are "
          "none, those covered by at least half (or by a tenth, if that is at least 2 s), because "
          "counters pause between rounds of requests. Bytes, MBU and activity refer to these "
          "instances; if it is 0, activity refers to whatever samples exist");
    field("coverage_share_of_wall", &Self::coverage_share_of_wall,
          "share of the sampled instances' wall time with samples of DRAM bytes (without those, of "
          "SM activity)");
    field("dram_read_bytes", &Self::dram_read,
          "mean bytes read per sampled instance; divided by the covered share if samples cover "
          "only a part");
    field("dram_write_bytes", &Self::dram_write,
          "mean bytes written per sampled instance, scaled likewise");
    field("dram_bytes", &Self::dram, "bytes read and written");
    field("dram_bytes_per_step", &Self::dram_per_step,
          "bytes read and written per sampled step, traced or not");
    field("dram_read_bytes_per_step", &Self::dram_read_per_step, "bytes read per sampled step");
    field("dram_write_bytes_per_step", &Self::dram_write_per_step,
          "bytes written per sampled step");
    field("dram_read_bytes_per_token", &Self::dram_read_per_token,
          "bytes read over sampled_tokens");
    field("dram_write_bytes_per_token", &Self::dram_write_per_token,
          "bytes written over sampled_tokens");
    field("bytes_over_model", &Self::bytes_over_model,
          "dram_bytes over the stage's bytes, which the model needs for as many steps");
    field("mbu", &Self::mbu,
          "measured bytes over what peak_bandwidth_bytes_per_s could move in that time");
    field("peak_bandwidth_bytes_per_s", &Self::peak_bandwidth, "peak memory bandwidth of the GPU");
    field("sm_active_share", &Self::sm_active, "SM activity, mean over wall time");
    field("tensor_active_share", &Self::tensor_active, "tensor-core activity, mean over wall time");
    field("steps", &Self::steps, "mean number of steps per instance");
    field(
        "tokens", &Self::tokens,
        "mean number of tokens per instance: generated ones for decode, prompt tokens for prefill");
    field("sampled_steps", &Self::sampled_steps, "mean number of steps per sampled instance");
    field("sampled_tokens", &Self::sampled_tokens, "mean number of tokens per sampled instance");
    field("energy_j", &Self::energy,
          "energy of the whole GPU per instance: wall time times the mean power between readings "
          "whose time belongs to the stage by at least three quarters");
    field("energy_per_token_j", &Self::energy_per_token, "energy_j over tokens");
    field("energy_source", &Self::energy_source,
          "source of energy_j: energy counter, or power over time");
    field("energy_why_not", &Self::energy_why_not, "why energy_j is missing");
    field("sm_clock_hz", &Self::sm_clock, "clock of the SMs");
    field("highest_sm_clock_hz", &Self::highest_sm_clock, "highest SM clock of the GPU");
    field("memory_clock_hz", &Self::memory_clock, "clock of the memory");
    field("power_w", &Self::power, "power of the whole GPU");
    field("temperature_c", &Self::temperature, "temperature of the GPU");
    field("throttle_reasons", &Self::throttle_reasons,
          "reasons for lower clocks, most frequent first");
    field("why_not", &Self::why_not, "why a figure is missing");
    field("throttle_samples", &Self::throttle_samples,
          "samples of throttle_reasons; if 0, no reason is known");
    field("why_not_reasons", &Self::why_not_reasons, "why_not as kinds and values");
    field("energy_why_not_reasons", &Self::energy_why_not_reasons,
          "energy_why_not as kinds and values");
  }
};

}  // namespace llmprof::profile
