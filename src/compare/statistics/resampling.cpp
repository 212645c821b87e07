#include "compare/statistics/resampling.h"

#include <cmath>

#include "base/quantiles.h"

namespace llmprof::compare {
namespace {

constexpr size_t kMostResamples = 1000;
constexpr size_t kFewestResamples = 200;
// Values drawn in all resamples together.
constexpr size_t kMostDrawn = 1'000'000;
constexpr double kFewestBeyond = 5;

}  // namespace

size_t resamples_of(size_t values) {
  return std::clamp(kMostDrawn / std::max<size_t>(values, 1), kFewestResamples, kMostResamples);
}

void draw(size_t length, Random& random, std::span<uint32_t> drawn) {
  std::ranges::fill(drawn, 0);
  const size_t size = drawn.size();
  for (size_t taken = 0; taken < size;) {
    const size_t first = random() % size;
    for (size_t i = 0; i < length && taken < size; ++i, ++taken) ++drawn[(first + i) % size];
  }
}

double fraction_of(Statistic statistic) {
  constexpr double kMedian = 0.5;
  constexpr double kTenth = 0.9;
  constexpr double kHundredth = 0.99;
  if (statistic == Statistic::p99) return kHundredth;
  return statistic == Statistic::p90 ? kTenth : kMedian;
}

bool enough_beyond(size_t count, Statistic statistic) {
  constexpr double kTenth = 0.1;
  constexpr double kHundredth = 0.01;
  const auto values = static_cast<double>(count);
  if (statistic == Statistic::p90) return values * kTenth >= kFewestBeyond;
  if (statistic == Statistic::p99) return values * kHundredth >= kFewestBeyond;
  return true;
}

double half_of_interval(double deviation, double blocks, double freedom) {
  // Resampled sums vary less than new data would, by the share of one block.
  const double error = deviation * std::sqrt(blocks / std::max(blocks - 1, 1.0));
  return student_t_975(freedom) * error;
}

}  // namespace llmprof::compare
