#include "compare/statistics/estimate.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace llmprof::compare {
namespace {

constexpr size_t kFewestForCorrelation = 8;

std::vector<double> autocovariances(std::span<const double> values, size_t lags) {
  double mean = 0;
  for (const double value : values) mean += value;
  mean /= static_cast<double>(values.size());
  std::vector<double> found(lags + 1, 0);
  for (size_t lag = 0; lag <= lags; ++lag) {
    for (size_t i = 0; i + lag < values.size(); ++i) {
      found[lag] += (values[i] - mean) * (values[i + lag] - mean);
    }
    found[lag] /= static_cast<double>(values.size());
  }
  return found;
}

// The lag from which `run` consecutive correlations are only noise.
size_t last_significant_lag(const std::vector<double>& covariances, size_t run, double noise) {
  size_t quiet = 0;
  for (size_t lag = 1; lag < covariances.size(); ++lag) {
    quiet = std::abs(covariances[lag] / covariances[0]) < noise ? quiet + 1 : 0;
    if (quiet == run) return lag - run;
  }
  return covariances.size() - 1;
}

double flat_top(double t) { return t <= 0.5 ? 1 : std::max(0.0, 2 * (1 - t)); }

}  // namespace

size_t block_length(std::span<const double> values) {
  const size_t n = values.size();
  if (n < kFewestForCorrelation) return 1;
  const auto count = static_cast<double>(n);
  const double digits = std::log10(count);
  const auto run = std::max<size_t>(5, static_cast<size_t>(std::ceil(std::sqrt(digits))));
  const size_t lags = std::min(n - 1, static_cast<size_t>(std::ceil(std::sqrt(count))) + run);
  const auto covariances = autocovariances(values, lags);
  if (covariances[0] <= 0) return 1;
  const size_t significant = last_significant_lag(covariances, run, 2 * std::sqrt(digits / count));
  const size_t bandwidth = std::min(std::max<size_t>(1, 2 * significant), lags);
  double weighted = 0;
  double spectrum = covariances[0];
  for (size_t lag = 1; lag <= bandwidth; ++lag) {
    const double weight = flat_top(static_cast<double>(lag) / static_cast<double>(bandwidth));
    weighted += 2 * weight * static_cast<double>(lag) * covariances[lag];
    spectrum += 2 * weight * covariances[lag];
  }
  const size_t longest =
      std::max<size_t>(1, static_cast<size_t>(std::min(3 * std::sqrt(count), count / 3)));
  // Few values do not show their correlation: without this minimum, the intervals of 20 to 60
  // correlated values miss in up to 27 of 100 cases instead of 5.
  const size_t shortest = std::min(longest, static_cast<size_t>(std::ceil(2 * std::cbrt(count))));
  // No or negative spectrum at 0: the correlation is too long to distinguish from a trend.
  if (spectrum <= 0) return longest;
  const double wanted =
      std::cbrt(2 * weighted * weighted / (4.0 / 3 * spectrum * spectrum)) * std::cbrt(count);
  return std::clamp<size_t>(static_cast<size_t>(std::ceil(wanted)), shortest, longest);
}

}  // namespace llmprof::compare
