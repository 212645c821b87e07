#include "analysis/statistics/statistics.h"

#include <algorithm>
#include <cmath>

#include "base/quantiles.h"

namespace llmprof::analysis {
namespace {

template <class Value, class Convert>
profile::Statistics<Value> converted(const Summary& from, Convert convert) {
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

Summary summarize(std::vector<Nanoseconds> values) { return summarize_reordering(values); }

Summary summarize_reordering(std::span<Nanoseconds> values) {
  Summary result;
  result.count = values.size();
  if (values.empty()) return result;
  const auto count = static_cast<double>(values.size());
  Nanoseconds sum = 0;
  result.min = result.max = values.front();
  for (const Nanoseconds value : values) {
    sum += value;
    result.min = std::min(result.min, value);
    result.max = std::max(result.max, value);
  }
  result.mean = static_cast<double>(sum) / count;
  if (values.size() > 1) {
    double squares = 0;
    for (const Nanoseconds value : values) {
      const double apart = static_cast<double>(value) - result.mean;
      squares += apart * apart;
    }
    result.std = std::sqrt(squares / (count - 1));
  }
  const size_t middle = median_rank(values.size());
  result.p50 = value_of_rank(values, middle);
  // Values before the median's position are not larger.
  result.p99 =
      value_of_rank(values.subspan(middle), nearest_rank_of(values.size(), kTail) - middle);
  return result;
}

profile::Statistics<profile::Milliseconds> times(const Summary& statistics) {
  return converted<profile::Milliseconds>(
      statistics, [](double nanoseconds) { return profile::to_milliseconds(nanoseconds); });
}

profile::Statistics<double> numbers(const Summary& statistics) {
  return converted<double>(statistics, [](double number) { return number; });
}

}  // namespace llmprof::analysis
