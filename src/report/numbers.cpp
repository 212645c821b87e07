#include "report/numbers.h"

#include "base/units.h"

#include <fmt/format.h>

#include <array>
#include <cmath>

namespace llmprof::report {
namespace {

template <class Value, class Format>
std::string or_missing(const std::optional<Value>& value, Format format) {
  return value ? format(*value) : std::string(kMissing);
}

}  // namespace

std::string exact_ms(Nanoseconds time) {
  const auto magnitude = static_cast<uint64_t>(time < 0 ? -time : time);
  return fmt::format("{}{}.{:06}", time < 0 ? "-" : "", magnitude / 1000000, magnitude % 1000000);
}

std::string rounded_ms(double nanoseconds) {
  return fmt::format("{:.6f}", nanoseconds / kNanosecondsPerMillisecond);
}

std::string ms(double nanoseconds) {
  return fmt::format("{:.3f}", nanoseconds / kNanosecondsPerMillisecond);
}

std::string ms(Nanoseconds time) { return ms(static_cast<double>(time)); }

std::string ms(const std::optional<double>& nanoseconds) {
  return or_missing(nanoseconds, [](double time) { return ms(time); });
}

std::string fine_ms(double nanoseconds) {
  return fmt::format("{:.4f}", nanoseconds / kNanosecondsPerMillisecond);
}

std::string fine_ms(const std::optional<double>& nanoseconds) {
  return or_missing(nanoseconds, [](double time) { return fine_ms(time); });
}

std::string mean_and_std(const analysis::Statistics& statistics) {
  if (statistics.count == 0) return std::string(kMissing);
  std::string text = ms(statistics.mean);
  if (statistics.std) text += " \xC2\xB1 " + ms(*statistics.std);
  return text;
}

std::string percent(double fraction) { return fmt::format("{:.1f} %", fraction * 100); }

std::string percent(const std::optional<double>& fraction) {
  return or_missing(fraction, [](double value) { return percent(value); });
}

std::string grouped(uint64_t number) {
  std::string digits = std::to_string(number);
  for (size_t from_end = 3; from_end < digits.size(); from_end += 4) {
    digits.insert(digits.size() - from_end, 1, ',');
  }
  return digits;
}

std::string plain(double number) {
  if (number >= 0 && std::floor(number) == number) return grouped(static_cast<uint64_t>(number));
  return fmt::format("{:.1f}", number);
}

std::string rate(const std::optional<double>& per_second) {
  return or_missing(per_second, [](double value) { return fmt::format("{:.1f}", value); });
}

std::string scaled(double number, std::string_view unit) {
  constexpr std::array<std::string_view, 6> kPrefixes = {"", "k", "M", "G", "T", "P"};
  constexpr double kStep = 1000;
  if (number == 0) return fmt::format("0 {}", unit);
  size_t prefix = 0;
  while (std::abs(number) >= kStep && prefix + 1 < kPrefixes.size()) {
    number /= kStep;
    ++prefix;
  }
  return fmt::format("{:.2f} {}{}", number, kPrefixes[prefix], unit);
}

std::string scaled(const std::optional<double>& number, std::string_view unit) {
  return or_missing(number, [unit](double value) { return scaled(value, unit); });
}

std::string counted(uint64_t number, std::string_view one, std::string_view many) {
  if (number == 1) return fmt::format("1 {}", one);
  return many.empty() ? fmt::format("{} {}s", grouped(number), one)
                      : fmt::format("{} {}", grouped(number), many);
}

}  // namespace llmprof::report
