#pragma once

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "base/units.h"
#include "profile/kernels.h"
#include "profile/quantity.h"

namespace llmprof::job::result {

// Milliseconds of a profile are whole nanoseconds over a million: rounding gives these back.
inline Nanoseconds exact(profile::Milliseconds time) { return profile::to_nanoseconds(time); }
inline Nanoseconds exact(const std::optional<profile::Milliseconds>& time) {
  return time ? exact(*time) : 0;
}

// "rank3/cuda:0"
std::string device_of_rank(uint64_t rank, const std::string& device);

// Times by name, added up in the order in which the names come first.
class NamedTimes {
 public:
  void add(const std::string& name, Nanoseconds time);
  void add(const profile::ByName<profile::WholeNanoseconds>& times);

  [[nodiscard]] Nanoseconds total() const;
  [[nodiscard]] profile::ByName<profile::WholeNanoseconds>& rows() { return rows_; }

  // Each over `ranks`, in whole nanoseconds that sum to the total over `ranks`, rounded down;
  // without those of 0.
  [[nodiscard]] profile::ByName<profile::WholeNanoseconds> mean(size_t ranks) const;

 private:
  profile::ByName<profile::WholeNanoseconds> rows_;
};

}  // namespace llmprof::job::result
