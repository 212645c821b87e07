#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "profile/quantity.h"
#include "profile/reasons.h"
#include "profile/vocabulary.h"

namespace llmprof::profile {

template <class Value>
struct Sensor {
  Value mean;
  Value min;
  Value max;
  uint64_t samples = 0;

  void fields(auto& field) const {
    field("mean", mean, "mean of the samples read within instances");
    field("min", min, "smallest value");
    field("max", max, "largest value");
    field("samples", samples, "number of samples");
  }
};

// Why clocks are lower, in the order of NVML's bits (nvmlClocksEventReasons).
enum class ClockLimit : uint8_t {
  idle,
  application_clocks,
  power_cap,
  hardware,
  sync_boost,
  thermal_software,
  thermal_hardware,
  power_brake,
  display_clock,
  others,
};
constexpr auto words_of(ClockLimit /*of*/) {
  using enum ClockLimit;
  return vocabulary<ClockLimit>({
      {idle, "", "GPU idle"},
      {application_clocks, "", "application clocks setting"},
      {power_cap, "", "power cap"},
      {hardware, "", "hardware slowdown"},
      {sync_boost, "", "sync boost"},
      {thermal_software, "", "thermal slowdown (software)"},
      {thermal_hardware, "", "thermal slowdown (hardware)"},
      {power_brake, "", "power brake (hardware)"},
      {display_clock, "", "display clock setting"},
      {others, "all that this version does not know", "other reasons"},
  });
}

struct ThrottleReason {
  ClockLimit reason{};
  bool slowing = false;
  Share share_of_samples;

  void fields(auto& field) const {
    field("reason", reason, "why clocks are lower, by NVML");
    field("slowing", slowing, "heat, power or hardware lowered the clocks");
    field("share_of_samples", share_of_samples, "share of samples with this reason");
  }
};

enum class EnergySource : uint8_t { energy_counter, power_over_time };
constexpr auto words_of(EnergySource /*of*/) {
  using enum EnergySource;
  return vocabulary<EnergySource>(
      {{energy_counter, "", "energy counter"}, {power_over_time, "", "power over time"}});
}

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
  std::optional<EnergySource> energy_source;
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

  void fields(auto& field) const {
    field("instances", instances, "measured instances");
    field("sampled_instances", sampled_instances,
          "instances with samples for at least 95 % of their wall time. If there are none: "
          "instances with samples for at least half of it, or for a tenth that lasts at least 2 s, "
          "because counters pause between rounds of requests. Bytes, MBU and activity refer to "
          "these instances; if there are none, activity refers to all samples");
    field("coverage_share_of_wall", coverage_share_of_wall,
          "share of the sampled instances' wall time with samples of DRAM bytes (without those, of "
          "SM activity)");
    field("dram_read_bytes", dram_read,
          "mean bytes read per sampled instance; divided by the covered share if samples cover "
          "only a part");
    field("dram_write_bytes", dram_write,
          "mean bytes written per sampled instance, scaled like dram_read_bytes");
    field("dram_bytes", dram, "bytes read and written");
    field("dram_bytes_per_step", dram_per_step,
          "bytes read and written per sampled step, traced or not");
    field("dram_read_bytes_per_step", dram_read_per_step, "bytes read per sampled step");
    field("dram_write_bytes_per_step", dram_write_per_step, "bytes written per sampled step");
    field("dram_read_bytes_per_token", dram_read_per_token, "bytes read over sampled_tokens");
    field("dram_write_bytes_per_token", dram_write_per_token, "bytes written over sampled_tokens");
    field("bytes_over_model", bytes_over_model,
          "dram_bytes over the stage's bytes, which the model needs for as many steps");
    field("mbu", mbu,
          "measured bytes over what peak_bandwidth_bytes_per_s could move in that time");
    field("peak_bandwidth_bytes_per_s", peak_bandwidth, "peak memory bandwidth of the GPU");
    field("sm_active_share", sm_active, "SM activity, mean over wall time");
    field("tensor_active_share", tensor_active, "tensor-core activity, mean over wall time");
    field("steps", steps, "mean number of steps per instance");
    field(
        "tokens", tokens,
        "mean number of tokens per instance: generated ones for decode, prompt tokens for prefill");
    field("sampled_steps", sampled_steps, "mean number of steps per sampled instance");
    field("sampled_tokens", sampled_tokens, "mean number of tokens per sampled instance");
    field("energy_j", energy,
          "energy of the whole GPU per instance: wall time times the mean power, over intervals "
          "between readings of which at least three quarters are in the stage");
    field("energy_per_token_j", energy_per_token, "energy_j over tokens");
    field("energy_source", energy_source, "source of energy_j");
    field("energy_why_not", energy_why_not, "why energy_j is missing");
    field("sm_clock_hz", sm_clock, "clock of the SMs");
    field("highest_sm_clock_hz", highest_sm_clock, "highest SM clock of the GPU");
    field("memory_clock_hz", memory_clock, "clock of the memory");
    field("power_w", power, "power of the whole GPU");
    field("temperature_c", temperature, "temperature of the GPU");
    field("throttle_reasons", throttle_reasons, "reasons for lower clocks, most frequent first");
    field("why_not", why_not, "why a figure is missing");
    field("throttle_samples", throttle_samples,
          "samples of throttle_reasons; if 0, no reason is known");
    field("why_not_reasons", why_not_reasons, "why_not as kinds and values");
    field("energy_why_not_reasons", energy_why_not_reasons, "energy_why_not as kinds and values");
  }
};

}  // namespace llmprof::profile
