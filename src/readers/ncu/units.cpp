#include "readers/ncu/units.h"

#include <array>
#include <optional>

#include "base/text.h"

namespace llmprof::readers {
namespace {

struct TimeUnit {
  std::string_view name;
  double nanoseconds;
};
constexpr std::array<TimeUnit, 12> kTimeUnits = {{{"ns", 1},
                                                  {"us", 1e3},
                                                  {"ms", 1e6},
                                                  {"s", 1e9},
                                                  {"nsecond", 1},
                                                  {"usecond", 1e3},
                                                  {"msecond", 1e6},
                                                  {"second", 1e9},
                                                  {"nanosecond", 1},
                                                  {"microsecond", 1e3},
                                                  {"millisecond", 1e6},
                                                  {"sec", 1e9}}};

std::optional<double> nanoseconds_in(std::string_view unit) {
  for (const TimeUnit& time : kTimeUnits) {
    if (equals_ignoring_case(unit, time.name)) return time.nanoseconds;
  }
  return std::nullopt;
}

// The power of 1000 in front of `base`, if `unit` is one of its family.
std::optional<double> prefix_of(std::string_view unit, std::string_view base) {
  if (equals_ignoring_case(unit, base)) return 1;
  if (unit.size() != base.size() + 1 || !equals_ignoring_case(unit.substr(1), base)) return {};
  switch (unit.front()) {
    case 'K':
    case 'k':
      return 1e3;
    case 'M':
      return 1e6;
    case 'G':
      return 1e9;
    case 'T':
      return 1e12;
    case 'P':
      return 1e15;
    default:
      return std::nullopt;
  }
}

// `scale` is what the value is to be multiplied with, below the stroke as well.
NcuUnit base_part(std::string_view part, bool below_stroke) {
  if (const auto nanoseconds = nanoseconds_in(part)) {
    if (below_stroke) return {"s", 1e9 / *nanoseconds};
    return {"ns", *nanoseconds};
  }
  for (const std::string_view base : {"byte", "hz"}) {
    if (const auto scale = prefix_of(part, base)) {
      return {std::string(base), below_stroke ? 1 / *scale : *scale};
    }
  }
  return {std::string(part), 1};
}

}  // namespace

NcuUnit ncu_base_unit(std::string_view printed) {
  std::string_view rest = trim(printed);
  size_t stroke = rest.find('/');
  // "n/a" is not a ratio.
  if (equals_ignoring_case(rest, "n/a")) return {"", 1};
  NcuUnit whole = base_part(rest.substr(0, stroke), false);
  while (stroke != std::string_view::npos) {
    rest.remove_prefix(stroke + 1);
    stroke = rest.find('/');
    const NcuUnit below = base_part(rest.substr(0, stroke), true);
    whole.unit += '/' + below.unit;
    whole.scale *= below.scale;
  }
  if (whole.unit == "cycle/s") whole.unit = "hz";
  return whole;
}

}  // namespace llmprof::readers
