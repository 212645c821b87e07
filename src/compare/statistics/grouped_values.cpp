#include <algorithm>
#include <cmath>
#include <utility>

#include "compare/statistics/estimate.h"
#include "compare/statistics/resampling.h"

namespace llmprof::compare {
namespace {

// Ascending values that were drawn, each with its count.
struct WeightedValues {
  std::vector<double> values;
  std::vector<uint64_t> weights;
  uint64_t total = 0;
};

// The median of all differences between two lists. Their number is the product of both counts, so
// they are never stored: one walk along both lists counts the differences of at most x, and
// repeated walks find the x with half of all differences.
class DifferenceMedian {
 public:
  DifferenceMedian(WeightedValues from, WeightedValues to)
      : from_(std::move(from)),
        to_(std::move(to)),
        pairs_(from_.total * to_.total),
        low_{to_.values.front() - from_.values.back(), 0},
        high_{to_.values.back() - from_.values.front(), pairs_} {}

  double find(const GroupedValues::Near& near) {
    constexpr double kPrecision = 1e-9;  // relative to the largest difference
    const double largest = std::max(std::abs(low_.x), std::abs(high_.x));
    const double enough = std::max(near.precision, kPrecision * largest);
    if (near.distance > 0) begin_near(near);
    double before = high_.x - low_.x;
    for (bool halve = false; high_.x - low_.x > enough;) {
      const double middle = halve ? low_.x + (high_.x - low_.x) / 2 : along_the_line(enough);
      if (middle <= low_.x || middle >= high_.x) break;
      narrow_to(middle);
      // If the line converged slowly, the next step bisects.
      const double width = high_.x - low_.x;
      halve = 2 * width > before;
      before = width;
    }
    return high_.x;
  }

 private:
  struct At {
    double x = 0;
    uint64_t count = 0;  // differences of at most x
  };

  [[nodiscard]] uint64_t at_most(double x) const {
    uint64_t found = 0;
    uint64_t below = 0;  // values of `from` below the value of `to` minus x
    size_t next = 0;
    const size_t last = from_.values.size();
    for (size_t i = 0; i < to_.values.size(); ++i) {
      const double least = to_.values[i] - x;
      while (next < last && from_.values[next] < least) below += from_.weights[next++];
      found += to_.weights[i] * (from_.total - below);
    }
    return found;
  }

  [[nodiscard]] bool is_half(uint64_t count) const { return 2 * count >= pairs_; }

  void narrow_to(double x) {
    const uint64_t count = at_most(x);
    (is_half(count) ? high_ : low_) = {x, count};
  }

  // Brackets the median between the expected shift and a point at growing distance from it.
  void begin_near(const GroupedValues::Near& near) {
    const auto is_inside = [&](double x) { return x > low_.x && x < high_.x; };
    if (is_inside(near.shift)) narrow_to(near.shift);
    const bool upwards = low_.x == near.shift;
    for (double distance = near.distance;; distance *= 4) {
      const double x = upwards ? near.shift + distance : near.shift - distance;
      if (!is_inside(x)) return;
      narrow_to(x);
      if ((upwards ? high_.x : low_.x) == x) return;
    }
  }

  // Where a line through both ends reaches half of the differences, moved slightly to the further
  // end so that both ends converge.
  [[nodiscard]] double along_the_line(double enough) const {
    const double half = static_cast<double>(pairs_) / 2;
    const auto of_low = static_cast<double>(low_.count);
    const double share = (half - of_low) / (static_cast<double>(high_.count) - of_low);
    const double width = high_.x - low_.x;
    const double beyond = std::min(enough, width / 2) / 2;
    return low_.x + share * width + (share < 0.5 ? beyond : -beyond);
  }

  WeightedValues from_;
  WeightedValues to_;
  uint64_t pairs_;
  At low_;   // fewer than half
  At high_;  // at least half
};

}  // namespace

GroupedValues::GroupedValues(const Series& series, size_t groups)
    : values_(series.values), sorted_(groups) {
  for (size_t i = 0; i < values_.size(); ++i) {
    sorted_[series.groups[i]].push_back(static_cast<uint32_t>(i));
  }
  for (auto& rows : sorted_) {
    std::ranges::sort(rows, [&](uint32_t a, uint32_t b) { return values_[a] < values_[b]; });
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

double GroupedValues::shift_to(const GroupedValues& other, size_t group,
                               std::span<const uint32_t> drawn,
                               std::span<const uint32_t> other_drawn, const Near& near) const {
  const auto weighted = [group](const GroupedValues& of, std::span<const uint32_t> how_often) {
    WeightedValues found;
    found.values.reserve(of.sorted_[group].size());
    found.weights.reserve(of.sorted_[group].size());
    for (const uint32_t row : of.sorted_[group]) {
      if (how_often[row] == 0) continue;
      found.values.push_back(of.values_[row]);
      found.weights.push_back(how_often[row]);
      found.total += how_often[row];
    }
    return found;
  };
  return DifferenceMedian(weighted(*this, drawn), weighted(other, other_drawn)).find(near);
}

}  // namespace llmprof::compare
