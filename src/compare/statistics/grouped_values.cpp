#include "compare/statistics/grouped_values.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

namespace llmprof::compare {
namespace {

constexpr std::array<std::pair<Statistic, std::string_view>, 5> kStatistics = {{
    {Statistic::shift, "shift"},
    {Statistic::mean, "mean"},
    {Statistic::p50, "p50"},
    {Statistic::p90, "p90"},
    {Statistic::p99, "p99"},
}};

double fraction_of(Statistic statistic) {
  constexpr double kMedian = 0.5;
  constexpr double kTenth = 0.9;
  constexpr double kHundredth = 0.99;
  if (statistic == Statistic::p99) return kHundredth;
  return statistic == Statistic::p90 ? kTenth : kMedian;
}

}  // namespace

std::string_view to_string(Statistic statistic) {
  return kStatistics.at(static_cast<size_t>(statistic)).second;
}

std::optional<Statistic> parse_statistic(std::string_view text) {
  for (const auto& [statistic, name] : kStatistics) {
    if (name == text) return statistic;
  }
  return std::nullopt;
}

GroupedValues::GroupedValues(const Series& series, size_t groups)
    : values_(series.values), sorted_(groups) {
  for (size_t i = 0; i < values_.size(); ++i) {
    sorted_[series.groups[i]].push_back(static_cast<uint32_t>(i));
  }
  for (auto& rows : sorted_) {
    std::sort(rows.begin(), rows.end(),
              [&](uint32_t a, uint32_t b) { return values_[a] < values_[b]; });
  }
}

uint64_t GroupedValues::count(size_t group, std::span<const uint32_t> drawn) const {
  uint64_t count = 0;
  for (const uint32_t row : sorted_[group]) count += drawn[row];
  return count;
}

bool GroupedValues::holds_all_groups(std::span<const uint32_t> drawn) const {
  for (size_t group = 0; group < sorted_.size(); ++group) {
    if (count(group, drawn) == 0) return false;
  }
  return true;
}

double GroupedValues::mean(size_t group, std::span<const uint32_t> drawn) const {
  double sum = 0;
  for (const uint32_t row : sorted_[group]) sum += drawn[row] * values_[row];
  return sum / static_cast<double>(count(group, drawn));
}

double GroupedValues::nearest_rank(size_t group, std::span<const uint32_t> drawn,
                                   double fraction) const {
  const double wanted = std::ceil(fraction * static_cast<double>(count(group, drawn)));
  const auto rank = std::max<uint64_t>(1, static_cast<uint64_t>(wanted));
  uint64_t below = 0;
  for (const uint32_t row : sorted_[group]) {
    below += drawn[row];
    if (below >= rank) return values_[row];
  }
  return 0;
}

double GroupedValues::location(Statistic statistic, size_t group,
                               std::span<const uint32_t> drawn) const {
  if (statistic == Statistic::mean) return mean(group, drawn);
  return nearest_rank(group, drawn, fraction_of(statistic));
}

// Bisection over the differences: how many are at most x is one walk along both sorted lists. All
// differences are never held: there are as many as the product of both counts.
double GroupedValues::shift_to(const GroupedValues& other, size_t group,
                               std::span<const uint32_t> drawn,
                               std::span<const uint32_t> other_drawn, double precision) const {
  const auto& mine = sorted_[group];
  const auto& theirs = other.sorted_[group];
  const uint64_t my_count = count(group, drawn);
  const uint64_t pairs = my_count * other.count(group, other_drawn);
  const auto at_most = [&](double x) {
    uint64_t found = 0;
    uint64_t below = 0;  // of mine: less than their value less x
    size_t next = 0;
    for (const uint32_t row : theirs) {
      const double least = other.values_[row] - x;
      while (next < mine.size() && values_[mine[next]] < least) below += drawn[mine[next++]];
      found += other_drawn[row] * (my_count - below);
    }
    return found;
  };
  double low = other.values_[theirs.front()] - values_[mine.back()];
  double high = other.values_[theirs.back()] - values_[mine.front()];
  constexpr double kPrecision = 1e-9;  // of the largest difference
  const double enough = std::max(precision, kPrecision * std::max(std::abs(low), std::abs(high)));
  while (high - low > enough) {
    const double middle = low + (high - low) / 2;
    if (middle <= low || middle >= high) break;
    (2 * at_most(middle) >= pairs ? high : low) = middle;
  }
  return high;
}

}  // namespace llmprof::compare
