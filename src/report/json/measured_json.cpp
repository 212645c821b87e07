#include "report/json/json_sections.h"

namespace llmprof::report {
namespace {

constexpr double kHertzPerMegahertz = 1e6;

Json sensor_json(const std::optional<analysis::StageCounters::Sensor>& sensor, double unit = 1) {
  if (!sensor) return nullptr;
  return {{"mean", sensor->mean * unit},
          {"min", sensor->min * unit},
          {"max", sensor->max * unit},
          {"samples", sensor->samples}};
}

Json throttled_json(const analysis::StageCounters& counters) {
  Json rows = Json::array();
  for (const analysis::StageCounters::Throttled& seen : counters.throttled) {
    rows.push_back({{"reason", seen.reason.words},
                    {"slowing", seen.reason.slowing},
                    {"share_of_samples", seen.share}});
  }
  return rows;
}

}  // namespace

Json measured_json(const StageFacts& facts) {
  if (facts.counters == nullptr) return nullptr;
  const analysis::StageCounters& own = *facts.counters;
  return {
      {"instances", own.instances},
      {"sampled_instances", own.sampled_instances},
      {"coverage_share_of_wall", value_or_null(own.coverage)},
      {"dram_read_bytes", value_or_null(own.read_bytes)},
      {"dram_write_bytes", value_or_null(own.write_bytes)},
      {"dram_bytes", value_or_null(own.bytes())},
      {"dram_bytes_per_step", value_or_null(own.per_step(own.bytes()))},
      {"dram_read_bytes_per_step", value_or_null(own.per_step(own.read_bytes))},
      {"dram_write_bytes_per_step", value_or_null(own.per_step(own.write_bytes))},
      {"dram_read_bytes_per_token", value_or_null(own.per_token(own.read_bytes))},
      {"dram_write_bytes_per_token", value_or_null(own.per_token(own.write_bytes))},
      {"bytes_over_model", value_or_null(own.bytes_over_model)},
      {"mbu", {{"wall", value_or_null(own.mbu_wall)}, {"gpu_busy", value_or_null(own.mbu_busy)}}},
      {"peak_bandwidth_bytes_per_s", number_or_null(own.peak_bandwidth)},
      {"sm_active_share", value_or_null(own.sm_active)},
      {"tensor_active_share", value_or_null(own.tensor_active)},
      {"steps", number_or_null(own.steps)},
      {"tokens", number_or_null(own.tokens)},
      {"sampled_steps", number_or_null(own.sampled_steps)},
      {"sampled_tokens", number_or_null(own.sampled_tokens)},
      {"energy_j", value_or_null(own.energy)},
      {"energy_per_token_j", value_or_null(own.energy_per_token())},
      {"energy_source", text_or_null(own.energy_source)},
      {"energy_why_not", text_or_null(own.energy_why_not)},
      {"sm_clock_hz", sensor_json(own.sm_clock, kHertzPerMegahertz)},
      {"highest_sm_clock_hz", number_or_null(own.highest_sm_clock * kHertzPerMegahertz)},
      {"memory_clock_hz", sensor_json(own.memory_clock, kHertzPerMegahertz)},
      {"power_w", sensor_json(own.power)},
      {"temperature_c", sensor_json(own.temperature)},
      {"throttle_reasons", throttled_json(own)},
      {"why_not", text_or_null(own.why_not)}};
}

}  // namespace llmprof::report
