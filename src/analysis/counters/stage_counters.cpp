#include "analysis/counters/stage_counters.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <span>

#include "analysis/counters/stage_energy.h"

namespace llmprof {
namespace {

constexpr double kNanosecondsPerSecond = 1e9;
constexpr double kHertzPerMegahertz = 1e6;
constexpr double kPercent = 100;
// Below it a stage's bytes would mostly be guessed.
constexpr double kLeastCoverage = 0.5;

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
  // Scaled from the time that samples cover to all of it.
  [[nodiscard]] std::optional<double> whole(const CounterSeries::Share& share) const {
    if (static_cast<double>(share.covered) < kLeastCoverage * wall || share.covered <= 0) {
      return std::nullopt;
    }
    return share.sum * wall / static_cast<double>(share.covered);
  }
  [[nodiscard]] std::optional<double> bytes() const {
    const auto in = whole(read);
    const auto out = whole(written);
    if (!in || !out) return std::nullopt;
    return *in + *out;
  }
};

class StageMeter {
 public:
  StageMeter(const Trace& trace, const Stages& stages, const std::vector<DeviceCounters>& devices)
      : trace_(trace), stages_(stages), devices_(devices) {}

  void add(const StageInstance& instance) {
    if (instance.warmup || !instance.device.valid()) return;
    const DeviceCounters& device = devices_[instance.device.index()];
    if (!any(device)) return;
    ++instances_;
    steps_ += instance.all_steps();
    whole_.add(device, instance.start, instance.end, instance.work.busy);
    add_traced(instance, device);
    sm_.add(series(device, CounterRole::sm_active).over(instance.start, instance.end));
    tensor_.add(series(device, CounterRole::tensor_active).over(instance.start, instance.end));
    windows_[instance.device].emplace_back(instance.start, instance.end);
    add_sensors(instance, device);
    const Device& gpu = trace_.devices[instance.device.index()];
    bandwidth_ = static_cast<double>(gpu.memory_bandwidth);
    highest_clock_ = static_cast<double>(gpu.clock_hz) / kHertzPerMegahertz;
  }

  [[nodiscard]] StageCounters told(uint32_t stage, const Utilization& use) const {
    StageCounters result;
    result.stage = stage;
    result.instances = instances_;
    if (instances_ == 0) return result;
    result.steps = steps_ / count();
    tell_sensors(result);
    tell_activity(result);
    tell_traffic(use, result);
    return result;
  }

 private:
  [[nodiscard]] double count() const { return static_cast<double>(instances_); }

  // Whole instances where all of their work was traced; else the traced steps with a known start.
  void add_traced(const StageInstance& instance, const DeviceCounters& device) {
    const auto unseen =
        stages_.untraced.within(instance.process, instance.device, instance.start, instance.end);
    if (unseen.empty()) {
      traced_.add(device, instance.start, instance.end, instance.work.busy);
      return;
    }
    for (const Step& step :
         std::span(stages_.steps).subspan(instance.first_step, instance.step_count)) {
      if (!step.after_untraced) traced_.add(device, step.start, step.end, step.work.busy);
    }
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
      result.energy = *power * whole_.wall / kNanosecondsPerSecond / count();
      result.energy_source = energy.source();
    }
    result.energy_why_not = energy.why_not();
  }

  void tell_activity(StageCounters& result) const {
    const auto share = [](std::optional<double> percent) {
      if (percent) *percent /= kPercent;
      return percent;
    };
    result.sm_active = share(sm_.mean());
    result.tensor_active = share(tensor_.mean());
  }

  void tell_traffic(const Utilization& use, StageCounters& result) const {
    const Nanoseconds covered = whole_.read.covered > 0 ? whole_.read.covered : sm_.covered;
    if (whole_.wall <= 0) return;
    if (covered > 0) result.coverage = static_cast<double>(covered) / whole_.wall;
    result.peak_bandwidth = use.gpu ? use.gpu->memory_bandwidth : bandwidth_;
    const auto mean = [&](std::optional<double> sum) {
      if (sum) *sum /= count();
      return sum;
    };
    result.read_bytes = mean(whole_.whole(whole_.read));
    result.write_bytes = mean(whole_.whole(whole_.written));
    if (whole_.read.covered > 0 && !result.read_bytes) {
      result.why_not = fmt::format(
          "samples of the DRAM counters cover {:.1f} % of the stage's wall time, too little",
          *result.coverage * kPercent);
    }
    const auto reached = [&](const Traffic& traffic, double nanoseconds) {
      const auto bytes = traffic.bytes();
      if (!bytes || nanoseconds <= 0 || result.peak_bandwidth <= 0) return std::optional<double>();
      return std::optional(*bytes / (nanoseconds / kNanosecondsPerSecond * result.peak_bandwidth));
    };
    result.mbu_wall = reached(whole_, whole_.wall);
    result.mbu_busy = reached(traced_, traced_.busy);
    refuse_impossible(result);
  }

  static void refuse_impossible(StageCounters& result) {
    const double most = std::max(result.mbu_wall.value_or(0), result.mbu_busy.value_or(0));
    if (most <= 1) return;
    result.why_not = fmt::format(
        "the measured bytes would be {:.0f} % of the memory bandwidth, and nothing exceeds its "
        "peak: check the GPU (--gpu), and whether the capture misses kernels",
        most * kPercent);
    result.mbu_wall.reset();
    result.mbu_busy.reset();
  }

  const Trace& trace_;
  const Stages& stages_;
  const std::vector<DeviceCounters>& devices_;
  uint64_t instances_ = 0;
  double steps_ = 0;
  Traffic whole_;
  Traffic traced_;
  CounterSeries::Share sm_;
  CounterSeries::Share tensor_;
  std::map<DeviceId, std::vector<std::pair<Nanoseconds, Nanoseconds>>> windows_;
  Readings sm_clock_;
  Readings memory_clock_;
  Readings power_;
  Readings temperature_;
  uint64_t throttle_samples_ = 0;
  std::map<uint64_t, std::pair<ThrottleReason, uint64_t>> throttled_;  // by bit
  double bandwidth_ = 0;
  double highest_clock_ = 0;
};

// Of one instance: the tokens that its steps give, or a prefill's prompt tokens.
double tokens_of(const Stages& stages, uint32_t stage, const Workload& workload) {
  const double batch = workload.batch ? static_cast<double>(workload.batch->value) : 1;
  if (stages.stages[stage].name == to_string(StepKind::prefill)) {
    return workload.prompt_tokens ? batch * static_cast<double>(workload.prompt_tokens->value) : 0;
  }
  double tokens = 0;
  double instances = 0;
  for (const StageInstance& instance : stages.instances) {
    if (instance.stage != stage || instance.warmup) continue;
    ++instances;
    tokens += batch * instance.untraced_steps;
    for (const Step& step :
         std::span(stages.steps).subspan(instance.first_step, instance.step_count)) {
      if (step.kind == StepKind::prefill) continue;
      tokens += step.batch ? static_cast<double>(*step.batch) : batch;
    }
  }
  return instances > 0 ? tokens / instances : 0;
}

void compare_with_model(const Utilization& use, StageCounters& stage) {
  for (const StageUtilization& known : use.stages) {
    if (known.stage != stage.stage || known.cost.parts.empty() || known.from_operators) continue;
    const double bytes = known.cost.bytes();
    if (stage.bytes() && bytes > 0) stage.bytes_over_model = *stage.bytes() / bytes;
  }
}

std::vector<std::optional<double>> bytes_by_step(const Stages& stages,
                                                 const std::vector<DeviceCounters>& devices) {
  std::vector<std::optional<double>> bytes(stages.steps.size());
  bool known = false;
  for (size_t i = 0; i < stages.steps.size(); ++i) {
    const Step& step = stages.steps[i];
    const DeviceId device = stages.instances[step.instance.index()].device;
    if (!device.valid()) continue;
    Traffic traffic;
    traffic.add(devices[device.index()], step.start, step.end, 0);
    bytes[i] = traffic.bytes();
    known = known || bytes[i].has_value();
  }
  if (!known) bytes.clear();
  return bytes;
}

}  // namespace

Counters attribute_counters(const Trace& trace, const Stages& stages, const Utilization& use) {
  Counters counters;
  if (trace.counters.size() == 0) return counters;
  const std::vector<DeviceCounters> devices = counters_by_device(trace);
  for (uint32_t i = 0; i < stages.stages.size(); ++i) {
    StageMeter meter(trace, stages, devices);
    for (const StageInstance& instance : stages.instances) {
      if (instance.stage == i) meter.add(instance);
    }
    StageCounters stage = meter.told(i, use);
    stage.tokens = tokens_of(stages, i, use.workload);
    if (stages.stages[i].name == to_string(StepKind::prefill)) stage.steps = 0;
    compare_with_model(use, stage);
    counters.stages.push_back(std::move(stage));
  }
  counters.step_bytes = bytes_by_step(stages, devices);
  return counters;
}

}  // namespace llmprof
