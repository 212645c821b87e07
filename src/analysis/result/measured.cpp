#include "analysis/result/parts.h"
#include "analysis/statistics/values.h"

namespace llmprof::analysis::result {
namespace {

template <class Quantity>
std::optional<profile::Sensor<Quantity>> sensor(const std::optional<StageCounters::Sensor>& from,
                                                double unit = 1) {
  if (!from) return std::nullopt;
  return profile::Sensor<Quantity>{
      {from->mean * unit}, {from->min * unit}, {from->max * unit}, from->samples};
}

}  // namespace

std::optional<profile::Measured> measured(const Counters& counters, size_t stage) {
  const StageCounters* sampled = nullptr;
  for (const StageCounters& each : counters.stages) {
    if (each.stage == stage && each.instances > 0) sampled = &each;
  }
  if (sampled == nullptr) return std::nullopt;
  const StageCounters& own = *sampled;
  using profile::Bytes;
  using profile::Hertz;
  using profile::Joules;
  using profile::Share;
  profile::Measured told;
  told.instances = own.instances;
  told.sampled_instances = own.sampled_instances;
  told.coverage_share_of_wall = quantity<Share>(own.coverage);
  told.dram_read = quantity<Bytes>(own.read_bytes);
  told.dram_write = quantity<Bytes>(own.write_bytes);
  told.dram = quantity<Bytes>(own.bytes());
  told.dram_per_step = quantity<Bytes>(own.per_step(own.bytes()));
  told.dram_read_per_step = quantity<Bytes>(own.per_step(own.read_bytes));
  told.dram_write_per_step = quantity<Bytes>(own.per_step(own.write_bytes));
  told.dram_read_per_token = quantity<Bytes>(own.per_token(own.read_bytes));
  told.dram_write_per_token = quantity<Bytes>(own.per_token(own.write_bytes));
  told.bytes_over_model = quantity<Share>(own.bytes_over_model);
  told.mbu = {quantity<Share>(own.mbu_wall), quantity<Share>(own.mbu_busy)};
  told.peak_bandwidth = quantity_unless_zero<profile::BytesPerSecond>(own.peak_bandwidth);
  told.sm_active = quantity<Share>(own.sm_active);
  told.tensor_active = quantity<Share>(own.tensor_active);
  told.steps = unless_zero(own.steps);
  told.tokens = unless_zero(own.tokens);
  told.sampled_steps = unless_zero(own.sampled_steps);
  told.sampled_tokens = unless_zero(own.sampled_tokens);
  told.energy = quantity<Joules>(own.energy);
  told.energy_per_token = quantity<Joules>(own.energy_per_token());
  told.energy_source = unless_empty(own.energy_source);
  told.energy_why_not_reasons = own.energy_why_not;
  told.sm_clock = sensor<Hertz>(own.sm_clock, kMega);
  told.highest_sm_clock = quantity_unless_zero<Hertz>(own.highest_sm_clock * kMega);
  told.memory_clock = sensor<Hertz>(own.memory_clock, kMega);
  told.power = sensor<profile::Watts>(own.power);
  told.temperature = sensor<profile::DegreesCelsius>(own.temperature);
  for (const StageCounters::Throttled& seen : own.throttled) {
    told.throttle_reasons.push_back(
        {std::string(seen.reason.words), seen.reason.slowing, {seen.share}});
  }
  told.throttle_samples = own.throttle_samples;
  told.why_not_reasons = own.why_not;
  return told;
}

}  // namespace llmprof::analysis::result
