#include "analysis/statistics/statistics.h"

#include <algorithm>
#include <cmath>

namespace llmprof::analysis {

namespace {

size_t rank_of(size_t count, double fraction) {
  const double wanted = std::ceil(fraction * static_cast<double>(count));
  return std::max<size_t>(1, static_cast<size_t>(wanted)) - 1;
}

Nanoseconds value_of_rank(std::span<Nanoseconds> values, size_t rank) {
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(rank),
                   values.end());
  return values[rank];
}

}  // namespace

Nanoseconds nearest_rank(std::span<Nanoseconds> values, double fraction) {
  return value_of_rank(values, rank_of(values.size(), fraction));
}

Statistics summarize(std::vector<Nanoseconds> values) { return summarize_reordering(values); }

Statistics summarize_reordering(std::span<Nanoseconds> values) {
  Statistics result;
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
  const size_t middle = rank_of(values.size(), kMedian);
  result.p50 = value_of_rank(values, middle);
  // What is smaller than the median stands in front of it.
  result.p99 = value_of_rank(values.subspan(middle), rank_of(values.size(), kTail) - middle);
  return result;
}

}  // namespace llmprof::analysis
