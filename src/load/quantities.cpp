#include "load/quantities.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <utility>

#include "base/text.h"

namespace llmprof::load {
namespace {

tl::unexpected<Error> usage_error(std::string_view option, std::string_view text,
                                  std::string_view wanted) {
  return fail(ErrorKind::usage,
              fmt::format("{}: '{}' is not {}", option, to_printable(text), wanted));
}

}  // namespace

Result<int64_t> parse_duration_ns(std::string_view text, std::string_view option) {
  constexpr std::array<std::pair<std::string_view, double>, 6> kUnits = {
      {{"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}, {"m", 60e9}, {"h", 3600e9}}};
  constexpr double kSecond = 1e9;
  constexpr double kLongestNs = 1e9 * 3600 * 24 * 366;
  const std::string_view written = trim(text);
  std::string_view number = written;
  double unit = kSecond;
  for (const auto& [name, ns] : kUnits) {
    if (!written.ends_with(name)) continue;
    number = written.substr(0, written.size() - name.size());
    unit = ns;
    break;
  }
  const auto count = parse_decimal(trim(number));
  const double ns = count.value_or(0) * unit;
  if (!(ns >= 1) || ns > kLongestNs) {
    return usage_error(option, text, "a time such as 500ms, 30s, 5m or 1h");
  }
  return static_cast<int64_t>(std::llround(ns));
}

Result<double> parse_positive(std::string_view text, std::string_view option) {
  constexpr double kMost = 1e6;
  const auto number = parse_decimal(trim(text));
  if (!number || !(*number > 0) || *number > kMost) {
    return usage_error(option, text, "a number above 0, at most 1,000,000");
  }
  return *number;
}

Result<Sweep> parse_sweep(std::string_view text) {
  constexpr size_t kMostLoads = 100;
  const size_t equals = text.find('=');
  const std::string_view name = trim(text.substr(0, equals));
  if (equals == std::string_view::npos || (name != "rate" && name != "concurrency")) {
    return usage_error("--sweep", text, "rate=1,2,4 or concurrency=1,8,64");
  }
  Sweep sweep;
  sweep.is_rate = name == "rate";
  for (const std::string_view value : split(text.substr(equals + 1), ',')) {
    const auto number = parse_positive(value, "--sweep");
    if (!number) return fail_with(number.error());
    if (!sweep.is_rate && *number != std::floor(*number)) {
      return usage_error("--sweep", value, "a whole number of concurrent requests");
    }
    sweep.values.push_back(*number);
  }
  if (sweep.values.size() > kMostLoads) {
    return usage_error("--sweep", text, "a list of at most 100 loads");
  }
  return sweep;
}

}  // namespace llmprof::load
