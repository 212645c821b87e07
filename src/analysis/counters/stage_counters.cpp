#include "analysis/counters/stage_counters.h"

#include <algorithm>
#include <map>
#include <span>

#include "analysis/counters/stage_energy.h"
#include "base/units.h"

namespace llmprof::analysis {
namespace {

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

const CounterSeries& series(const DeviceCounters& device, CounterRole role) {
  return device[static_cast<size_t>(role)];
}

bool any(const DeviceCounters& device) {
  return std::any_of(device.begin(), device.end(),
                     [](const CounterSeries& of_role) { return !of_role.empty(); });
}

// What one sensor read, over the instances of a stage.
struct Readings {
  StageCounters::Sensor sensor;

  void add(double value) {
    sensor.min = sensor.samples == 0 ? value : std::min(sensor.min, value);
    sensor.max = sensor.samples == 0 ? value : std::max(sensor.max, value);
    sensor.mean += value;
    ++sensor.samples;
  }
  [[nodiscard]] std::optional<StageCounters::Sensor> told() const {
    if (sensor.samples == 0) return std::nullopt;
    StageCounters::Sensor result = sensor;
    result.mean /= static_cast<double>(sensor.samples);
    return result;
  }
};

// Time and bytes that a bandwidth is made of.
struct Traffic {
  CounterSeries::Share read;
  CounterSeries::Share written;
  double wall = 0;  // ns
  double busy = 0;  // ns

  void add(const DeviceCounters& device, Nanoseconds from, Nanoseconds to, Nanoseconds gpu_busy) {
    read.add(series(device, CounterRole::dram_read).over(from, to));
    written.add(series(device, CounterRole::dram_write).over(from, to));
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
    has_counters_ = has_counters_ || !series(device, CounterRole::dram_read).empty() ||
                    !series(device, CounterRole::sm_active).empty();
    if (is_whole(own.covered(), own.whole.wall)) {
      wholly_sampled_.add(own);
    } else if (is_enough(own.covered(), own.whole.wall)) {
      partly_sampled_.add(own);
    }
    windows_[instance.device].emplace_back(instance.start, instance.end);
    add_sensors(instance, device);
    const trace::Device& gpu = trace_.devices[instance.device.index()];
    bandwidth_ = static_cast<double>(gpu.memory_bandwidth);
    highest_clock_ = static_cast<double>(gpu.clock_hz) / kMega;
  }

  [[nodiscard]] StageCounters told(uint32_t stage, const Utilization& use) const {
    StageCounters result;
    result.stage = stage;
    result.instances = all_.instances.size();
    if (all_.instances.empty()) return result;
    const Samples& samples = best_samples();
    result.sampled_instances = &samples == &all_ ? 0 : samples.instances.size();
    tell_work(use, samples, result);
    tell_sensors(result);
    tell_activity(samples, result);
    tell_traffic(use, samples, result);
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
    own.sm = series(device, CounterRole::sm_active).over(instance.start, instance.end);
    own.tensor = series(device, CounterRole::tensor_active).over(instance.start, instance.end);
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

  void tell_work(const Utilization& use, const Samples& samples, StageCounters& result) const {
    result.tokens = tokens_of(stages_, result.stage, use.workload, all_.instances);
    result.sampled_tokens = tokens_of(stages_, result.stage, use.workload, samples.instances);
    if (stages_.stages[result.stage].name == to_string(StepKind::prefill)) return;
    result.steps = all_.steps / all_.count();
    result.sampled_steps = samples.steps / samples.count();
  }

  void add_sensors(const StageInstance& instance, const DeviceCounters& device) {
    const auto read = [&](CounterRole role, Readings& into) {
      series(device, role).each_within(instance.start, instance.end, [&](double value) {
        into.add(value);
      });
    };
    read(CounterRole::sm_clock, sm_clock_);
    read(CounterRole::memory_clock, memory_clock_);
    read(CounterRole::power, power_);
    read(CounterRole::temperature, temperature_);
    series(device, CounterRole::throttle_reasons)
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

  void tell_sensors(StageCounters& result) const {
    result.sm_clock = sm_clock_.told();
    result.memory_clock = memory_clock_.told();
    result.power = power_.told();
    result.temperature = temperature_.told();
    result.highest_sm_clock = highest_clock_;
    for (const auto& [bit, seen] : throttled_) {
      result.throttled.push_back(
          {seen.first, static_cast<double>(seen.second) / static_cast<double>(throttle_samples_)});
    }
    std::stable_sort(result.throttled.begin(), result.throttled.end(),
                     [](const auto& a, const auto& b) { return a.share > b.share; });
    result.throttle_samples = throttle_samples_;
    StageEnergy energy;
    for (const auto& [device, windows] : windows_) energy.add(devices_[device.index()], windows);
    if (const auto power = energy.mean_power()) {
      result.energy = *power * all_.whole.wall / kNanosecondsPerSecond / all_.count();
      result.energy_source = energy.source();
    }
    result.energy_why_not = energy.why_not();
  }

  static void tell_activity(const Samples& samples, StageCounters& result) {
    const auto share = [](std::optional<double> percent) {
      constexpr double kPercent = 100;
      if (percent) *percent /= kPercent;
      return percent;
    };
    result.sm_active = share(samples.sm.mean());
    result.tensor_active = share(samples.tensor.mean());
  }

  void tell_traffic(const Utilization& use, const Samples& samples, StageCounters& result) const {
    const Traffic& whole = samples.whole;
    const Nanoseconds covered = samples.covered();
    if (whole.wall <= 0) return;
    if (covered > 0) result.coverage = static_cast<double>(covered) / whole.wall;
    if (result.sampled_instances == 0) return tell_why_nothing(result);
    result.peak_bandwidth = use.gpu ? use.gpu->memory_bandwidth : bandwidth_;
    const auto mean = [&](std::optional<double> sum) {
      if (sum) *sum /= samples.count();
      return sum;
    };
    result.read_bytes = mean(whole.whole(whole.read));
    result.write_bytes = mean(whole.whole(whole.written));
    const auto reached = [&](const Traffic& traffic, double nanoseconds) {
      const auto bytes = traffic.bytes();
      if (!bytes || nanoseconds <= 0 || result.peak_bandwidth <= 0) return std::optional<double>();
      return std::optional(*bytes / (nanoseconds / kNanosecondsPerSecond * result.peak_bandwidth));
    };
    result.mbu_wall = reached(whole, whole.wall);
    result.mbu_busy = reached(samples.traced, samples.traced.busy);
    refuse_impossible(result);
  }

  void tell_why_nothing(StageCounters& result) const {
    if (result.coverage) {
      result.why_not = {make_reason(
          profile::ReasonKind::few_counter_samples,
          profile::FindingValues().add("share_of_wall", profile::Share{*result.coverage}))};
    } else if (has_counters_) {
      result.why_not = {make_reason(profile::ReasonKind::no_counter_samples)};
    }
  }

  static void refuse_impossible(StageCounters& result) {
    const double most = std::max(result.mbu_wall.value_or(0), result.mbu_busy.value_or(0));
    if (most <= 1) return;
    result.why_not = {make_reason(profile::ReasonKind::impossible_bandwidth,
                                  profile::FindingValues().add("share", profile::Share{most}))};
    result.mbu_wall.reset();
    result.mbu_busy.reset();
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

void compare_with_model(const Utilization& use, StageCounters& stage) {
  for (const StageUtilization& known : use.stages) {
    if (known.stage != stage.stage || known.cost.parts.empty() || known.from_operators) continue;
    // The model's are of the mean instance; a decode's follow its steps.
    const double part = stage.steps > 0 ? stage.sampled_steps / stage.steps : 1;
    const double bytes = known.cost.bytes() * part;
    if (stage.bytes() && bytes > 0) stage.bytes_over_model = *stage.bytes() / bytes;
  }
}

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
  return std::any_of(reasons.begin(), reasons.end(),
                     [](const ThrottleReason& reason) { return reason.slowing; });
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
    return slowed(device.at(static_cast<size_t>(CounterRole::throttle_reasons)), start, end);
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
    StageCounters stage = meter.told(i, use);
    compare_with_model(use, stage);
    counters.stages.push_back(std::move(stage));
  }
  counters.step_bytes = bytes_by_step(stages, devices);
  find_slowed(stages, devices, counters);
  return counters;
}

}  // namespace llmprof::analysis
