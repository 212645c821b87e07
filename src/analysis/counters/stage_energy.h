#pragma once

#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "analysis/counters/counter_series.h"
#include "profile/reasons.h"

namespace llmprof::analysis {

// Energy of a stage's windows from readings that are often longer apart than the stage lasts. Only
// what lies between two readings counts, and only where most of that time is the stage's own: else
// it would be other stages' energy. Its mean power, times the windows' time, is the stage's.
class StageEnergy {
 public:
  // Windows of one device, in order of time.
  void add(const DeviceCounters& device,
           const std::vector<std::pair<Nanoseconds, Nanoseconds>>& windows);

  // W; none where the readings say too little.
  [[nodiscard]] std::optional<double> mean_power() const;
  [[nodiscard]] std::string_view source() const {
    return by_power_ ? "power over time" : "energy counter";
  }
  // Why there is none; empty without any readings.
  [[nodiscard]] profile::Reasons why_not() const;

 private:
  bool by_power_ = false;
  double joules_ = 0;
  double between_ = 0;  // ns, of the intervals that count
  double covered_ = 0;  // of them, the stage's own
  double wall_ = 0;
  double reading_time_ = 0;  // ns between all readings around the windows
  double readings_ = 0;
};

}  // namespace llmprof::analysis
