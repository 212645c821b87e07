#pragma once

#include <array>
#include <cmath>
#include <compare>
#include <cstdint>
#include <optional>
#include <string_view>

#include "base/units.h"
#include "profile/vocabulary.h"

namespace llmprof::profile {

enum class Unit : uint8_t {
  milliseconds,
  share,  // a fraction, 0 to 1; a field's meaning names its denominator
  bytes,
  flops,
  bytes_per_second,
  flops_per_second,
  flops_per_byte,
  tokens_per_second,
  hertz,
  watts,
  joules,
  degrees_celsius,
};
constexpr std::string_view symbol(Unit unit) {
  constexpr std::array<std::string_view, 12> kSymbols = {
      "ms", "fraction", "B", "FLOP", "B/s", "FLOP/s", "FLOP/B", "tokens/s", "Hz", "W", "J", "°C"};
  return kSymbols[static_cast<size_t>(unit)];
}

// A number that cannot be mistaken for another unit.
template <Unit U>
struct Quantity {
  static constexpr Unit kUnit = U;
  double value = 0;

  auto operator<=>(const Quantity&) const = default;
};

using Milliseconds = Quantity<Unit::milliseconds>;
using Share = Quantity<Unit::share>;
using Bytes = Quantity<Unit::bytes>;
using Flops = Quantity<Unit::flops>;
using BytesPerSecond = Quantity<Unit::bytes_per_second>;
using FlopsPerSecond = Quantity<Unit::flops_per_second>;
using FlopsPerByte = Quantity<Unit::flops_per_byte>;
using TokensPerSecond = Quantity<Unit::tokens_per_second>;
using Hertz = Quantity<Unit::hertz>;
using Watts = Quantity<Unit::watts>;
using Joules = Quantity<Unit::joules>;
using DegreesCelsius = Quantity<Unit::degrees_celsius>;

// A time that is exact to the nanosecond.
struct WholeNanoseconds {
  Nanoseconds value = 0;

  auto operator<=>(const WholeNanoseconds&) const = default;
};

inline Milliseconds to_milliseconds(double nanoseconds) {
  return {nanoseconds / kNanosecondsPerMillisecond};
}
inline Milliseconds to_milliseconds(Nanoseconds time) {
  return to_milliseconds(static_cast<double>(time));
}

inline Nanoseconds to_nanoseconds(Milliseconds time) {
  return std::llround(time.value * kNanosecondsPerMillisecond);
}

// Of times or plain numbers. Percentiles by nearest rank: each is a measured value.
template <class Value>
struct Statistics {
  std::optional<Value> mean;
  std::optional<Value> std;
  std::optional<Value> min;
  std::optional<Value> p50;
  std::optional<Value> p99;
  std::optional<Value> max;
  uint64_t count = 0;

  void fields(auto& field) const {
    field("mean", mean, "arithmetic mean");
    field("std", std, "standard deviation of a sample (n - 1); null below two values");
    field("min", min, "smallest value");
    field("p50", p50, "median, by nearest rank");
    field("p99", p99, "99th percentile, by nearest rank");
    field("max", max, "largest value");
    field("count", count, "number of values; if 0, the other fields are null");
  }
};

// The value that represents several durations.
enum class Typical : uint8_t { mean, range, median };
constexpr auto words_of(Typical /*of*/) {
  using enum Typical;
  return vocabulary<Typical>({
      {range, "for two or three values that vary widely: max above 1.5 times min"},
      {median, "for more values that vary widely: std above 0.25 of the mean"},
  });
}

struct ShownTimes : Statistics<Milliseconds> {
  Typical typical = Typical::mean;

  void fields(auto& field) const {
    Statistics<Milliseconds>::fields(field);
    field("typical", typical,
          "the value that represents all others; two or three values also vary widely if std is "
          "above 0.25 of the mean");
  }
};

// How much of a peak was used.
struct Ratios {
  std::optional<Share> wall;
  std::optional<Share> gpu_busy;

  void fields(auto& field) const {
    field("wall", wall, "on wall time");
    field("gpu_busy", gpu_busy, "on the time the GPU was busy, in traced steps");
  }
};

}  // namespace llmprof::profile
