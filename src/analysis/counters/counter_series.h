#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "profile/measured.h"
#include "profile/reasons.h"
#include "trace/trace.h"

namespace llmprof::analysis {

// What a counter or sensor of the collector measures.
enum class CounterRole : uint8_t {
  dram_read,         // bytes, a sum over each sample
  dram_write,        // bytes, a sum over each sample
  sm_active,         // %, a mean
  tensor_active,     // %, a mean
  sm_clock,          // MHz
  memory_clock,      // MHz
  power,             // W
  temperature,       // C
  energy,            // J, cumulative
  throttle_reasons,  // NVML's bit mask
};
inline constexpr size_t kCounterRoles = static_cast<size_t>(CounterRole::throttle_reasons) + 1;

// None if no figure uses the counter.
std::optional<CounterRole> counter_role(std::string_view name, std::string_view unit);

// NVML's reasons for lower clocks in a mask; all unknown bits together are one reason.
std::vector<profile::ClockLimit> clock_limits(uint64_t mask);
// Power, heat and hardware; not an idle GPU, or clocks set on purpose.
bool is_slowing(profile::ClockLimit limit);

// The samples of one counter or sensor of one device, in time order.
class CounterSeries {
 public:
  struct Sample {
    Nanoseconds start = 0;
    Nanoseconds end = 0;  // equals start if read at an instant
    double value = 0;
  };
  // Totals over a window: a sample counts by the share of it inside the window.
  struct Share {
    double sum = 0;            // for values that are sums
    double time_weighted = 0;  // value x ns, for values that are means
    Nanoseconds covered = 0;

    [[nodiscard]] std::optional<double> mean() const {
      if (covered <= 0) return std::nullopt;
      return time_weighted / static_cast<double>(covered);
    }
    void add(const Share& other) {
      sum += other.sum;
      time_weighted += other.time_weighted;
      covered += other.covered;
    }
  };

  void add(const Sample& sample) { samples_.push_back(sample); }
  void put_in_order();

  [[nodiscard]] bool empty() const { return samples_.empty(); }
  [[nodiscard]] Share over(Nanoseconds from, Nanoseconds to) const;
  // Calls visit(value) for each sample at an instant in [from, to] or over a time that overlaps it.
  template <class Visit>
  void each_within(Nanoseconds from, Nanoseconds to, const Visit& visit) const {
    for (size_t i = first_ending_after(from); i < samples_.size() && samples_[i].start <= to; ++i) {
      visit(samples_[i].value);
    }
  }
  [[nodiscard]] const std::vector<Sample>& samples() const { return samples_; }

 private:
  // The first sample that ends at or after `time`.
  [[nodiscard]] size_t first_ending_after(Nanoseconds time) const;

  std::vector<Sample> samples_;
};

// All series of one device, by role; empty if a metric is absent.
using DeviceCounters = std::array<CounterSeries, kCounterRoles>;
inline const CounterSeries& series_of(const DeviceCounters& device, CounterRole role) {
  return device.at(static_cast<size_t>(role));
}

// One entry per device. Values that are not numbers are skipped.
std::vector<DeviceCounters> counters_by_device(const trace::Trace& trace);

// Energy of a stage's windows. Readings are often further apart than a stage is long. An interval
// between two readings counts only if most of it is the stage's own time; otherwise it would
// include other stages' energy. The intervals' mean power times the windows' time is the stage's
// energy.
class StageEnergy {
 public:
  // Windows of one device, in time order.
  void add(const DeviceCounters& device,
           const std::vector<std::pair<Nanoseconds, Nanoseconds>>& windows);

  // W; none if the readings cover too little.
  [[nodiscard]] std::optional<double> mean_power() const;
  [[nodiscard]] profile::EnergySource source() const {
    return by_power_ ? profile::EnergySource::power_over_time
                     : profile::EnergySource::energy_counter;
  }
  // Why there is no energy; empty without any readings.
  [[nodiscard]] profile::Reasons why_not() const;

 private:
  bool by_power_ = false;
  double joules_ = 0;
  double between_ = 0;  // ns in intervals that count
  double covered_ = 0;  // ns of these in the stage
  double wall_ = 0;
  double reading_time_ = 0;  // ns between all readings around the windows
  double readings_ = 0;
};

}  // namespace llmprof::analysis
