#include "analysis/statistics/statistics.h"

#include <algorithm>
#include <cmath>

namespace llmprof::analysis {

Nanoseconds nearest_rank(std::span<Nanoseconds> values, double fraction) {
  const double wanted = std::ceil(fraction * static_cast<double>(values.size()));
  const size_t rank = std::max<size_t>(1, static_cast<size_t>(wanted)) - 1;
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(rank),
                   values.end());
  return values[rank];
}

Statistics summarize(std::vector<Nanoseconds> values) {
  Statistics result;
  result.count = values.size();
  if (values.empty()) return result;
  const auto count = static_cast<double>(values.size());
  Nanoseconds sum = 0;
  for (const Nanoseconds value : values) sum += value;
  result.mean = static_cast<double>(sum) / count;
  if (values.size() > 1) {
    double squares = 0;
    for (const Nanoseconds value : values) {
      const double apart = static_cast<double>(value) - result.mean;
      squares += apart * apart;
    }
    result.std = std::sqrt(squares / (count - 1));
  }
  const auto [least, most] = std::minmax_element(values.begin(), values.end());
  result.min = *least;
  result.max = *most;
  result.p50 = nearest_rank(values, kMedian);
  result.p99 = nearest_rank(values, kTail);
  return result;
}

}  // namespace llmprof::analysis
