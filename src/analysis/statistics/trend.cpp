#include "analysis/statistics/trend.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

namespace llmprof::analysis {
namespace {

constexpr size_t kFewestForTrend = 10;
constexpr size_t kMostForTrend = 500;  // pairs grow with the square
constexpr double kNormal95 = 1.959964;

// The variance of Kendall's score of `values`, which are consumed.
double variance_of_score(std::vector<double> values) {
  const auto of = [](double n) { return n * (n - 1) * (2 * n + 5); };
  double sum = of(static_cast<double>(values.size()));
  std::ranges::sort(values);
  for (size_t first = 0; first < values.size();) {
    size_t end = first + 1;
    while (end < values.size() && values[end] == values[first]) ++end;
    sum -= of(static_cast<double>(end - first));
    first = end;
  }
  constexpr double kKendall = 18;
  return sum / kKendall;
}

double ranked(const std::vector<double>& sorted, double rank) {
  const auto last = static_cast<double>(sorted.size() - 1);
  return sorted[static_cast<size_t>(std::clamp(std::round(rank), 0.0, last))];
}

}  // namespace

std::optional<Trend> find_trend(std::span<const double> values) {
  if (values.size() < kFewestForTrend) return std::nullopt;
  const size_t stride = (values.size() + kMostForTrend - 1) / kMostForTrend;
  std::vector<double> series;
  for (size_t i = 0; i < values.size(); i += stride) series.push_back(values[i]);
  std::vector<double> slopes;
  slopes.reserve(series.size() * (series.size() - 1) / 2);
  for (size_t i = 0; i < series.size(); ++i) {
    for (size_t j = i + 1; j < series.size(); ++j) {
      slopes.push_back((series[j] - series[i]) / static_cast<double>((j - i) * stride));
    }
  }
  std::ranges::sort(slopes);
  const double half_width = kNormal95 * std::sqrt(variance_of_score(series));
  const auto pairs = static_cast<double>(slopes.size());
  const double middle = (pairs - 1) / 2;
  return Trend{(ranked(slopes, std::floor(middle)) + ranked(slopes, std::ceil(middle))) / 2,
               ranked(slopes, middle - half_width / 2), ranked(slopes, middle + half_width / 2)};
}

}  // namespace llmprof::analysis
