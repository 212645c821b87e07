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

inline void add_amount(uint64_t& sum, uint64_t more) { sum += more; }
inline void add_amount(profile::WholeNanoseconds& sum, profile::WholeNanoseconds more) {
  sum.value += more.value;
}
inline void add_amount(profile::Milliseconds& sum, profile::Milliseconds more) {
  sum = profile::to_milliseconds(exact(sum) + exact(more));
}
inline void add_amount(std::optional<profile::Milliseconds>& sum,
                       const std::optional<profile::Milliseconds>& more) {
  if (more) sum = profile::to_milliseconds(exact(sum) + exact(more));
}
template <profile::Unit unit>
void add_amount(std::optional<profile::Quantity<unit>>& sum,
                const std::optional<profile::Quantity<unit>>& more) {
  if (sum && more) sum->value += more->value;
}

// Adds the counts and times of a described struct, and what else is summed up; texts stay. What is
// derived from them is for the caller.
template <class Struct>
void add_amounts(Struct& sum, const Struct& more) {
  auto add = [&](const char* /*name*/, auto member, const char* /*meaning*/) {
    if constexpr (requires { add_amount(sum.*member, more.*member); }) {
      add_amount(sum.*member, more.*member);
    }
  };
  Struct::fields(add);
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
