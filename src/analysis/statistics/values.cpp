#include "analysis/statistics/values.h"

namespace llmprof::analysis {
namespace {

template <class Value, class Convert>
profile::Statistics<Value> converted(const Statistics& from, Convert convert) {
  profile::Statistics<Value> into;
  into.count = from.count;
  if (from.count == 0) return into;
  into.mean = convert(from.mean);
  if (from.std) into.std = convert(*from.std);
  into.min = convert(static_cast<double>(from.min));
  into.p50 = convert(static_cast<double>(from.p50));
  into.p99 = convert(static_cast<double>(from.p99));
  into.max = convert(static_cast<double>(from.max));
  return into;
}

}  // namespace

profile::Statistics<profile::Milliseconds> times(const Statistics& statistics) {
  return converted<profile::Milliseconds>(
      statistics, [](double nanoseconds) { return profile::to_milliseconds(nanoseconds); });
}

std::optional<profile::Statistics<profile::Milliseconds>> times(
    const std::optional<Statistics>& statistics) {
  if (!statistics) return std::nullopt;
  return times(*statistics);
}

profile::Statistics<double> numbers(const Statistics& statistics) {
  return converted<double>(statistics, [](double number) { return number; });
}

}  // namespace llmprof::analysis
