#include "analysis/counters/stage_counters.h"

#include <algorithm>
#include <functional>
#include <map>
#include <span>

#include "analysis/counters/counter_series.h"
#include "analysis/statistics/values.h"
#include "base/units.h"

namespace llmprof::analysis {
namespace {

using profile::Measured;

// Samples lie side by side: what is missing at an instance's edge is less.
constexpr double kWhole = 0.95;
// Below it a stage's bytes would mostly be guessed.
constexpr double kLeastSampled = 0.5;
// Unless it is a long one with many samples: the collector's counters rest from time to time.
constexpr double kLeastSampledOfLong = 0.1;
constexpr Nanoseconds kManySamples = 2'000'000'000;

bool is_enough(Nanoseconds covered, double wall) {
  const double share = covered >= kManySamples ? kLeastSampledOfLong : kLeastSampled;
  return covered > 0 && static_cast<double>(covered) >= share * wall;
}

bool is_whole(Nanoseconds covered, double wall) {
  return covered > 0 && static_cast<double>(covered) >= kWhole * wall;
}

bool any(const DeviceCounters& device) {
  return !std::ranges::all_of(device, &CounterSeries::empty);
}

// What one sensor read, over the instances of a stage.
struct Readings {
  double sum = 0;
  double min = 0;
  double max = 0;
  uint64_t samples = 0;

  void add(double value) {
    min = samples == 0 ? value : std::min(min, value);
    max = samples == 0 ? value : std::max(max, value);
    sum += value;
    ++samples;
  }
  template <class Quantity>
  void fill(std::optional<profile::Sensor<Quantity>>& sensor, double unit = 1) const {
    if (samples == 0) return;
    const double mean = sum / static_cast<double>(samples);
    sensor = {{mean * unit}, {min * unit}, {max * unit}, samples};
  }
};

template <class Quantity>
std::optional<Quantity> over(const std::optional<Quantity>& amount, double count) {
  return amount ? quantity<Quantity>(ratio(amount->value, count)) : std::nullopt;
}

// Time and bytes that a bandwidth is made of.
struct Traffic {
  CounterSeries::Share read;
  CounterSeries::Share written;
  double wall = 0;  // ns
  double busy = 0;  // ns

  void add(const DeviceCounters& device, Nanoseconds from, Nanoseconds to, Nanoseconds gpu_busy) {
    read.add(series_of(device, CounterRole::dram_read).over(from, to));
    written.add(series_of(device, CounterRole::dram_write).over(from, to));
    wall += static_cast<double>(to - from);
    busy += static_cast<double>(gpu_busy);
  }
  void add(const Traffic& other) {
    read.add(other.read);
    written.add(other.written);
    wall += other.wall;
    busy += other.busy;
  }
  // Scaled from the time that samples cover to all of it.
  [[nodiscard]] std::optional<double> whole(const CounterSeries::Share& share) const {
    if (!is_enough(share.covered, wall)) return std::nullopt;
    return share.sum * wall / static_cast<double>(share.covered);
  }
  [[nodiscard]] std::optional<double> bytes() const {
    const auto in = whole(read);
    const auto out = whole(written);
    if (!in || !out) return std::nullopt;
    return *in + *out;
  }
};

// What counters say of some instances of a stage.
struct Samples {
  std::vector<const StageInstance*> instances;
  double steps = 0;
  Traffic whole;
  Traffic traced;
  CounterSeries::Share sm;
  CounterSeries::Share tensor;

  [[nodiscard]] double count() const { return static_cast<double>(instances.size()); }
  [[nodiscard]] Nanoseconds covered() const {
    return whole.read.covered > 0 ? whole.read.covered : sm.covered;
  }
  void add(const Samples& other) {
    instances.insert(instances.end(), other.instances.begin(), other.instances.end());
    steps += other.steps;
    whole.add(other.whole);
    traced.add(other.traced);
    sm.add(other.sm);
    tensor.add(other.tensor);
  }
};

// Of one instance: the tokens that its steps give, or a prefill's prompt tokens. Forward passes of
// a model that is no LLM give none.
double tokens_of(const Stages& stages, uint32_t stage, const Workload& workload,
                 std::span<const StageInstance* const> instances) {
  const double batch = workload.batch ? static_cast<double>(workload.batch->value) : 1;
  if (stages.stages[stage].name == to_string(StepKind::prefill)) {
    return workload.prompt_tokens ? batch * static_cast<double>(workload.prompt_tokens->value) : 0;
  }
  if (stages.stages[stage].name == to_string(StepKind::forward)) return 0;
  double tokens = 0;
  for (const StageInstance* instance : instances) {
    tokens += batch * instance->untraced_steps;
    for (const Step& step :
         std::span(stages.steps).subspan(instance->first_step, instance->step_count)) {
      if (step.kind == StepKind::prefill) continue;
      tokens += step.batch ? static_cast<double>(*step.batch) : batch;
    }
  }
  return instances.empty() ? 0 : tokens / static_cast<double>(instances.size());
}

class StageMeter {
 public:
  StageMeter(const trace::Trace& trace, const Stages& stages,
             const std::vector<DeviceCounters>& devices)
      : trace_(trace), stages_(stages), devices_(devices) {}

  void add(const StageInstance& instance) {
    if (instance.warmup || !instance.device.valid()) return;
    const DeviceCounters& device = devices_[instance.device.index()];
    if (!any(device)) return;
    const Samples own = samples_of(instance, device);
    all_.add(own);
    has_counters_ = has_counters_ || !series_of(device, CounterRole::dram_read).empty() ||
                    !series_of(device, CounterRole::sm_active).empty();
    if (is_whole(own.covered(), own.whole.wall)) {
      wholly_sampled_.add(own);
    } else if (is_enough(own.covered(), own.whole.wall)) {
      partly_sampled_.add(own);
    }
    windows_[instance.device].emplace_back(instance.start, instance.end);
    add_sensors(instance, device);
    const trace::Device& gpu = trace_.devices[instance.device.index()];
    bandwidth_ = static_cast<double>(gpu.memory_bandwidth);
    highest_clock_ = static_cast<double>(gpu.clock_hz);
  }

  [[nodiscard]] std::optional<Measured> measured(uint32_t stage, const Utilization& use) const {
    if (all_.instances.empty()) return std::nullopt;
    Measured result;
    result.instances = all_.instances.size();
    const Samples& samples = best_samples();
    result.sampled_instances = &samples == &all_ ? 0 : samples.instances.size();
    add_work(stage, use.workload, samples, result);
    add_sensors(result);
    result.sm_active = share_of_percent(samples.sm.mean());
    result.tensor_active = share_of_percent(samples.tensor.mean());
    add_traffic(use, samples, result);
    add_amounts(stage, use, result);
    return result;
  }

 private:
  // Those of whole instances where there are any: what is scaled is guessed in part.
  [[nodiscard]] const Samples& best_samples() const {
    if (!wholly_sampled_.instances.empty()) return wholly_sampled_;
    return partly_sampled_.instances.empty() ? all_ : partly_sampled_;
  }

  [[nodiscard]] Samples samples_of(const StageInstance& instance,
                                   const DeviceCounters& device) const {
    Samples own;
    own.instances.push_back(&instance);
    own.steps = instance.all_steps();
    own.whole.add(device, instance.start, instance.end, instance.work.busy);
    own.traced = traced_of(instance, device);
    own.sm = series_of(device, CounterRole::sm_active).over(instance.start, instance.end);
    own.tensor = series_of(device, CounterRole::tensor_active).over(instance.start, instance.end);
    return own;
  }

  // Of the whole instance where all of its work was traced; else of the traced steps with a known
  // start.
  [[nodiscard]] Traffic traced_of(const StageInstance& instance,
                                  const DeviceCounters& device) const {
    Traffic traced;
    const auto unseen =
        stages_.untraced.within(instance.process, instance.device, instance.start, instance.end);
    if (unseen.empty()) {
      traced.add(device, instance.start, instance.end, instance.work.busy);
      return traced;
    }
    for (const Step& step :
         std::span(stages_.steps).subspan(instance.first_step, instance.step_count)) {
      if (!step.after_untraced) traced.add(device, step.start, step.end, step.work.busy);
    }
    return traced;
  }

  void add_work(uint32_t stage, const Workload& workload, const Samples& samples,
                Measured& result) const {
    result.tokens = unless_zero(tokens_of(stages_, stage, workload, all_.instances));
    result.sampled_tokens = unless_zero(tokens_of(stages_, stage, workload, samples.instances));
    if (stages_.stages[stage].name == to_string(StepKind::prefill)) return;
    result.steps = unless_zero(all_.steps / all_.count());
    result.sampled_steps = unless_zero(samples.steps / samples.count());
  }

  void add_sensors(const StageInstance& instance, const DeviceCounters& device) {
    const auto read = [&](CounterRole role, Readings& into) {
      series_of(device, role).each_within(instance.start, instance.end, [&](double value) {
        into.add(value);
      });
    };
    read(CounterRole::sm_clock, sm_clock_);
    read(CounterRole::memory_clock, memory_clock_);
    read(CounterRole::power, power_);
    read(CounterRole::temperature, temperature_);
    series_of(device, CounterRole::throttle_reasons)
        .each_within(instance.start, instance.end, [&](double value) {
          ++throttle_samples_;
          if (value < 1) return;
          for (const ThrottleReason& reason : throttle_reasons(static_cast<uint64_t>(value))) {
            auto& [known, times] = throttled_[reason.bit];
            known = reason;
            ++times;
          }
        });
  }

  void add_sensors(Measured& result) const {
    sm_clock_.fill(result.sm_clock, kMega);
    memory_clock_.fill(result.memory_clock, kMega);
    power_.fill(result.power);
    temperature_.fill(result.temperature);
    result.highest_sm_clock = quantity_unless_zero<profile::Hertz>(highest_clock_);
    for (const auto& [bit, seen] : throttled_) {
      const auto& [reason, times] = seen;
      result.throttle_reasons.push_back(
          {std::string(reason.words),
           reason.slowing,
           {static_cast<double>(times) / static_cast<double>(throttle_samples_)}});
    }
    std::ranges::stable_sort(result.throttle_reasons, std::greater(),
                             &profile::ThrottleReason::share_of_samples);
    result.throttle_samples = throttle_samples_;
    StageEnergy energy;
    for (const auto& [device, windows] : windows_) energy.add(devices_[device.index()], windows);
    if (const auto power = energy.mean_power()) {
      result.energy = {*power * all_.whole.wall / kNanosecondsPerSecond / all_.count()};
      result.energy_source = energy.source();
    }
    result.energy_why_not_reasons = energy.why_not();
    result.energy_per_token = over(result.energy, result.tokens.value_or(0));
  }

  // Bytes and MBU, of sampled instances.
  void add_traffic(const Utilization& use, const Samples& samples, Measured& result) const {
    const Traffic& whole = samples.whole;
    const Nanoseconds covered = samples.covered();
    if (whole.wall <= 0) return;
    if (covered > 0) result.coverage_share_of_wall = {static_cast<double>(covered) / whole.wall};
    if (result.sampled_instances == 0) return add_why_nothing(result);
    const double peak = use.gpu ? use.gpu->memory_bandwidth : bandwidth_;
    result.peak_bandwidth = quantity_unless_zero<profile::BytesPerSecond>(peak);
    const auto mean = [&](const std::optional<double>& sum) {
      return sum ? quantity<profile::Bytes>(*sum / samples.count()) : std::nullopt;
    };
    result.dram_read = mean(whole.whole(whole.read));
    result.dram_write = mean(whole.whole(whole.written));
    const auto reached = [&](const Traffic& traffic, double nanoseconds) {
      const auto bytes = traffic.bytes();
      if (!bytes || nanoseconds <= 0) return std::optional<profile::Share>();
      return share(*bytes, nanoseconds / kNanosecondsPerSecond * peak);
    };
    result.mbu = {reached(whole, whole.wall), reached(samples.traced, samples.traced.busy)};
    refuse_impossible(result);
  }

  void add_why_nothing(Measured& result) const {
    if (const auto& covered = result.coverage_share_of_wall) {
      result.why_not_reasons = {
          make_reason(profile::ReasonKind::few_counter_samples,
                      profile::FindingValues().add("share_of_wall", *covered))};
    } else if (has_counters_) {
      result.why_not_reasons = {make_reason(profile::ReasonKind::no_counter_samples)};
    }
  }

  static void refuse_impossible(Measured& result) {
    const profile::Share most = std::max(result.mbu.wall.value_or(profile::Share{}),
                                         result.mbu.gpu_busy.value_or(profile::Share{}));
    if (most.value <= 1) return;
    result.why_not_reasons = {make_reason(profile::ReasonKind::impossible_bandwidth,
                                          profile::FindingValues().add("share", most))};
    result.mbu = {};
  }

  // Of bytes: per step and token, and beside what the model must move.
  static void add_amounts(uint32_t stage, const Utilization& use, Measured& result) {
    const double steps = result.sampled_steps.value_or(0);
    const double tokens = result.sampled_tokens.value_or(0);
    result.dram_read_per_step = over(result.dram_read, steps);
    result.dram_write_per_step = over(result.dram_write, steps);
    result.dram_read_per_token = over(result.dram_read, tokens);
    result.dram_write_per_token = over(result.dram_write, tokens);
    if (!result.dram_read || !result.dram_write) return;
    result.dram = {result.dram_read->value + result.dram_write->value};
    result.dram_per_step = over(result.dram, steps);
    for (const StageUtilization& known : use.stages) {
      if (known.stage != stage || known.cost.parts.empty() || known.from_operators) continue;
      // The model's are of the mean instance; a decode's follow its steps.
      const double part = result.steps ? steps / *result.steps : 1;
      result.bytes_over_model = share(result.dram->value, known.cost.bytes() * part);
    }
  }

  const trace::Trace& trace_;
  const Stages& stages_;
  const std::vector<DeviceCounters>& devices_;
  Samples all_;
  bool has_counters_ = false;  // of the devices that it ran on
  Samples wholly_sampled_;
  Samples partly_sampled_;
  std::map<trace::DeviceId, std::vector<std::pair<Nanoseconds, Nanoseconds>>> windows_;
  Readings sm_clock_;
  Readings memory_clock_;
  Readings power_;
  Readings temperature_;
  uint64_t throttle_samples_ = 0;
  std::map<uint64_t, std::pair<ThrottleReason, uint64_t>> throttled_;  // by bit
  double bandwidth_ = 0;
  double highest_clock_ = 0;
};

std::vector<std::optional<double>> bytes_by_step(const Stages& stages,
                                                 const std::vector<DeviceCounters>& devices) {
  std::vector<std::optional<double>> bytes(stages.steps.size());
  bool known = false;
  for (size_t i = 0; i < stages.steps.size(); ++i) {
    const Step& step = stages.steps[i];
    const trace::DeviceId device = stages.instances[step.instance.index()].device;
    if (!device.valid()) continue;
    Traffic traffic;
    traffic.add(devices[device.index()], step.start, step.end, 0);
    bytes[i] = traffic.bytes();
    known = known || bytes[i].has_value();
  }
  if (!known) bytes.clear();
  return bytes;
}

bool slows(double mask) {
  if (mask < 1) return false;
  const auto reasons = throttle_reasons(static_cast<uint64_t>(mask));
  return std::ranges::any_of(reasons, &ThrottleReason::slowing);
}

// By any reading from `start` to `end`, or else by the last one before.
std::optional<bool> slowed(const CounterSeries& reasons, Nanoseconds start, Nanoseconds end) {
  constexpr auto kLongestAge = static_cast<Nanoseconds>(kNanosecondsPerSecond);
  std::optional<bool> found;
  reasons.each_within(start, end,
                      [&](double mask) { found = found.value_or(false) || slows(mask); });
  if (!found) {
    reasons.each_within(end - kLongestAge, end, [&](double mask) { found = slows(mask); });
  }
  return found;
}

void find_slowed(const Stages& stages, const std::vector<DeviceCounters>& devices,
                 Counters& counters) {
  const auto of = [&](const StageInstance& instance, Nanoseconds start, Nanoseconds end) {
    if (!instance.device.valid()) return std::optional<bool>();
    const DeviceCounters& device = devices[instance.device.index()];
    return slowed(series_of(device, CounterRole::throttle_reasons), start, end);
  };
  for (const StageInstance& instance : stages.instances) {
    counters.instance_slowed.push_back(of(instance, instance.start, instance.end));
  }
  for (const Step& step : stages.steps) {
    counters.step_slowed.push_back(
        of(stages.instances[step.instance.index()], step.start, step.end));
  }
}

}  // namespace

Counters attribute_counters(const trace::Trace& trace, const Stages& stages,
                            const Utilization& use) {
  Counters counters;
  if (trace.counters.size() == 0) return counters;
  const std::vector<DeviceCounters> devices = counters_by_device(trace);
  for (uint32_t i = 0; i < stages.stages.size(); ++i) {
    StageMeter meter(trace, stages, devices);
    for (const StageInstance& instance : stages.instances) {
      if (instance.stage == i) meter.add(instance);
    }
    counters.stages.push_back(meter.measured(i, use));
  }
  counters.step_bytes = bytes_by_step(stages, devices);
  find_slowed(stages, devices, counters);
  return counters;
}

}  // namespace llmprof::analysis
