#include "report/plots/axis.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "report/format/figures.h"

namespace llmprof::report {
namespace {

constexpr std::array<double, 3> kNiceSteps = {1, 2, 5};

std::vector<double> decades_of(const Axis& axis) {
  const bool few = axis.high / axis.low < 100;
  std::vector<double> marks;
  for (double decade = std::pow(10, std::floor(std::log10(axis.low)));
       decade <= axis.high && std::isfinite(decade); decade *= 10) {
    for (const double step : kNiceSteps) {
      const double mark = decade * step;
      if (mark >= axis.low && mark <= axis.high && (few || step == 1)) marks.push_back(mark);
    }
  }
  return marks;
}

}  // namespace

double Axis::place(double value) const {
  const double share =
      logarithmic ? std::log(value / low) / std::log(high / low) : (value - low) / (high - low);
  return from + share * (to - from);
}

std::vector<double> marks_of(const Axis& axis, size_t about) {
  // A profile that somebody else wrote may hold any number: beyond these no step leads anywhere.
  constexpr double kSteps = 1e12;
  const double span = axis.high - axis.low;
  if (!std::isfinite(span) || !(span * kSteps > std::abs(axis.high))) return {};
  if (axis.logarithmic && !(axis.low > 0)) return {};
  if (axis.logarithmic) return decades_of(axis);
  const double rough = (axis.high - axis.low) / static_cast<double>(std::max<size_t>(about, 1));
  if (!(rough > 0)) return {};
  const double decade = std::pow(10, std::floor(std::log10(rough)));
  double step = 10 * decade;
  for (const double nice : {5.0, 2.0, 1.0}) {
    if (nice * decade >= rough) step = nice * decade;
  }
  std::vector<double> marks;
  constexpr double kRounding = 1e-9;
  for (double count = std::ceil(axis.low / step - kRounding);
       count * step <= axis.high * (1 + kRounding); ++count) {
    marks.push_back(count == 0 ? 0 : count * step);  // not -0
  }
  return marks;
}

std::string mark_text(double value) {
  constexpr double kGrouped = 1000;
  constexpr double kScientific = 1e15;
  if (value >= kGrouped && value < kScientific && value == std::floor(value)) {
    return text_of(grouped(static_cast<uint64_t>(value)));
  }
  return fmt::format("{:.6g}", value);
}

std::string prefixed_mark(double value) {
  constexpr std::array<std::string_view, 7> kPrefixes = {"", "k", "M", "G", "T", "P", "E"};
  size_t prefix = 0;
  for (; value >= 1000 && prefix + 1 < kPrefixes.size(); ++prefix) value /= 1000;
  return fmt::format("{:.6g} {}", value, kPrefixes[prefix]);
}

}  // namespace llmprof::report
