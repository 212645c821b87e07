#pragma once

#include <array>
#include <optional>
#include <vector>

#include "analysis/counters/metric_roles.h"
#include "trace/trace.h"

namespace llmprof::analysis {

// The samples of one counter or sensor of one device, in order of time.
class CounterSeries {
 public:
  struct Sample {
    Nanoseconds start = 0;
    Nanoseconds end = 0;  // start: read at an instant
    double value = 0;
  };
  // Of some window: a sample counts by the share of it that lies inside.
  struct Share {
    double sum = 0;            // of values that are sums
    double time_weighted = 0;  // value x ns, of values that are means
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
  // Calls visit(value) for what was read at an instant of [from, to], or over a time that meets it.
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

// All series of one device, by role; empty ones where a metric is absent.
using DeviceCounters = std::array<CounterSeries, kCounterRoles>;

// One entry per device. What is not a number is left out.
std::vector<DeviceCounters> counters_by_device(const trace::Trace& trace);

}  // namespace llmprof::analysis
