#include "job/collectives/match.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "base/quantiles.h"

namespace llmprof::job {
namespace {

constexpr size_t kProbes = 64;
constexpr size_t kManyProbes = 2048;
constexpr size_t kEarlyProbes = 8;
// How far captures may be shifted if no clock shows it.
constexpr int64_t kFarthestShift = 50'000;
// Largest median difference between two ranks' ends of the same collectives, after offset and
// drift.
constexpr double kCloseEnds = 20e3;  // ns
constexpr double kLargestSlope = 500e-6;
// Ratios of spread below this decide nothing.
constexpr double kSameSpread = 1.25;
constexpr double kLeastSpread = 500;  // ns

// How well second[i] matches first[i + shift].
struct Fit {
  int64_t shift = 0;
  double agreement = 0;  // share of probes with equal tokens
  // Median absolute difference of ends from their common offset and drift, ns.
  double spread = std::numeric_limits<double>::infinity();
  double offset = 0;  // median difference of ends, ns
};

class ShiftSearch {
 public:
  ShiftSearch(const LaneCalls& first, const LaneCalls& second,
              const std::optional<RoughClock>& rough)
      : first_(first), second_(second), rough_(rough) {}

  [[nodiscard]] Fit best() {
    // Captures that start, or end, together.
    Fit found = evaluate(0, kManyProbes);
    const Fit ends = evaluate(signed_size(first_) - signed_size(second_), kManyProbes);
    if (better(ends, found)) found = ends;
    if (is_good(found)) return found;
    const auto [from, to] = shifts();
    std::vector<Fit> candidates;
    constexpr size_t kCandidates = 8;
    for (int64_t shift = from; shift <= to; ++shift) {
      const Fit fit = evaluate(shift, kProbes);
      if (fit.agreement == 0) continue;
      if (candidates.size() == kCandidates && !better(fit, candidates.back())) continue;
      if (candidates.size() == kCandidates) candidates.pop_back();
      const auto at =
          std::ranges::find_if(candidates, [&](const Fit& other) { return better(fit, other); });
      candidates.insert(at, fit);
    }
    for (const Fit& candidate : candidates) {
      const Fit fit = evaluate(candidate.shift, kManyProbes);
      if (better(fit, found)) found = fit;
    }
    return found;
  }

 private:
  static int64_t signed_size(const LaneCalls& of) { return static_cast<int64_t>(of.end.size()); }

  // At least a quarter of the shorter sequence; few ends fit anything.
  [[nodiscard]] int64_t least_overlap() const {
    constexpr int64_t kFew = 8;
    const int64_t shorter = std::min(signed_size(first_), signed_size(second_));
    return std::max(std::min(kFew, shorter), shorter / 4);
  }

  [[nodiscard]] std::pair<int64_t, int64_t> shifts() const {
    const int64_t least = least_overlap();
    int64_t from = std::max(-kFarthestShift, least - signed_size(second_));
    int64_t to = std::min(kFarthestShift, signed_size(first_) - least);
    if (!rough_) return {from, to};
    // The places in the first sequence where the second's middle may be.
    const size_t middle = second_.end.size() / 2;
    const Nanoseconds expected = second_.end[middle] + rough_->offset;
    const auto place = [&](Nanoseconds time) {
      return std::ranges::lower_bound(first_.end, time) - first_.end.begin() -
             static_cast<int64_t>(middle);
    };
    constexpr int64_t kAround = 64;
    const int64_t low = place(expected - rough_->tolerance) - kAround;
    const int64_t high = place(expected + rough_->tolerance) + kAround;
    from = std::max(from, low);
    to = std::min(to, high);
    return {from, to};
  }

  [[nodiscard]] Fit evaluate(int64_t shift, size_t probes) {
    Fit fit;
    fit.shift = shift;
    const int64_t from = std::max<int64_t>(0, -shift);
    const int64_t to = std::min(signed_size(second_), signed_size(first_) - shift);
    const int64_t overlap = to - from;
    if (overlap < least_overlap()) return fit;
    const auto n = std::min<int64_t>(overlap, static_cast<int64_t>(probes));
    time_.clear();
    difference_.clear();
    size_t equal = 0;
    const Nanoseconds base =
        first_.end[static_cast<size_t>(from + shift)] - second_.end[static_cast<size_t>(from)];
    for (int64_t k = 0; k < n; ++k) {
      const auto i = static_cast<size_t>(from + k * overlap / n);
      const auto j = static_cast<size_t>(static_cast<int64_t>(i) + shift);
      if (first_.token[j] == second_.token[i]) {
        ++equal;
        time_.push_back(
            static_cast<double>(second_.end[i] - second_.end[static_cast<size_t>(from)]));
        difference_.push_back(static_cast<double>(first_.end[j] - second_.end[i] - base));
      }
      if (static_cast<size_t>(k + 1) == kEarlyProbes && equal * 2 < kEarlyProbes) return fit;
    }
    if (equal == 0) return fit;
    fit.agreement = static_cast<double>(equal) / static_cast<double>(n);
    measure(static_cast<double>(base), fit);
    return fit;
  }

  void measure(double base, Fit& fit) {
    left_ = difference_;
    fit.offset = base + median(std::span(left_));
    double slope = time_.size() < kEarlyProbes ? 0 : robust_slope(time_, difference_);
    if (std::abs(slope) > kLargestSlope) slope = 0;
    left_.resize(time_.size());
    for (size_t i = 0; i < time_.size(); ++i) left_[i] = difference_[i] - slope * time_[i];
    const double at_0 = median(std::span(left_));
    for (double& value : left_) value = std::abs(value - at_0);
    fit.spread = median(std::span(left_));
  }

  [[nodiscard]] double from_rough(const Fit& fit) const {
    return rough_ ? std::abs(fit.offset - static_cast<double>(rough_->offset)) : 0;
  }
  [[nodiscard]] bool within_rough(const Fit& fit) const {
    return !rough_ || from_rough(fit) <= static_cast<double>(rough_->tolerance);
  }
  [[nodiscard]] bool is_good(const Fit& fit) const {
    constexpr double kAgree = 0.999;
    if (fit.agreement < kAgree || !within_rough(fit)) return false;
    return rough_ && rough_->exact ? from_rough(fit) <= kCloseEnds : fit.spread <= kCloseEnds;
  }

  // Compares kinds and sizes, then what the clocks exclude, then times between ends, then the
  // clocks.
  [[nodiscard]] bool better(const Fit& a, const Fit& b) const {
    constexpr double kAgreementStep = 0.05;
    if (std::abs(a.agreement - b.agreement) > kAgreementStep) return a.agreement > b.agreement;
    if (within_rough(a) != within_rough(b)) return within_rough(a);
    if (rough_ && rough_->exact) return from_rough(a) < from_rough(b);
    const double spread_a = std::max(a.spread, kLeastSpread);
    const double spread_b = std::max(b.spread, kLeastSpread);
    if (spread_a > spread_b * kSameSpread) return false;
    if (spread_b > spread_a * kSameSpread) return true;
    if (rough_ && from_rough(a) != from_rough(b)) return from_rough(a) < from_rough(b);
    return std::abs(a.shift) < std::abs(b.shift);
  }

  const LaneCalls& first_;
  const LaneCalls& second_;
  const std::optional<RoughClock>& rough_;
  std::vector<double> time_;
  std::vector<double> difference_;
  std::vector<double> left_;
};

std::vector<uint32_t> by_numbers(const LaneCalls& first, const LaneCalls& second) {
  const auto in_order = [](const LaneCalls& of) {
    std::vector<uint32_t> order(of.sequence.size());
    std::iota(order.begin(), order.end(), 0U);
    if (!std::ranges::is_sorted(of.sequence)) {
      std::ranges::stable_sort(order, {}, [&](uint32_t i) { return of.sequence[i]; });
    }
    return order;
  };
  const auto a = in_order(first);
  const auto b = in_order(second);
  std::vector<uint32_t> match(first.end.size(), kNoRow);
  for (size_t i = 0, j = 0; i < a.size() && j < b.size();) {
    const uint64_t left = first.sequence[a[i]];
    const uint64_t right = second.sequence[b[j]];
    if (left < right) {
      ++i;
    } else if (right < left) {
      ++j;
    } else {
      if (first.token[a[i]] == second.token[b[j]]) match[a[i]] = b[j];
      ++i;
      ++j;
    }
  }
  return match;
}

// Walks both from the shift on; if kinds or sizes differ, skips the collectives that only one has.
std::vector<uint32_t> by_order(const LaneCalls& first, const LaneCalls& second, int64_t shift) {
  constexpr size_t kFarthest = 64;
  constexpr size_t kAlike = 4;
  std::vector<uint32_t> match(first.end.size(), kNoRow);
  auto i = static_cast<size_t>(std::max<int64_t>(0, shift));
  auto j = static_cast<size_t>(std::max<int64_t>(0, -shift));
  const auto alike = [&](size_t a, size_t b) {
    for (size_t k = 0; k < kAlike; ++k) {
      if (a + k >= first.token.size() || b + k >= second.token.size()) return k > 0;
      if (first.token[a + k] != second.token[b + k]) return false;
    }
    return true;
  };
  while (i < first.token.size() && j < second.token.size()) {
    if (first.token[i] == second.token[j]) {
      match[i++] = static_cast<uint32_t>(j++);
      continue;
    }
    bool found = false;
    for (size_t skip = 1; skip <= kFarthest && !found; ++skip) {
      for (size_t of_first = 0; of_first <= skip && !found; ++of_first) {
        if (!alike(i + of_first, j + skip - of_first)) continue;
        i += of_first;
        j += skip - of_first;
        found = true;
      }
    }
    if (!found) {
      ++i;
      ++j;
    }
  }
  return match;
}

constexpr double kNearlyAll = 0.95;

// Nearly all ends must fit; if the sequences agree from end to end, most ends are enough.
bool is_plausible(const LaneCalls& first, const LaneCalls& second, const Fit& fit,
                  const std::vector<uint32_t>& ordered) {
  constexpr double kAlike = 0.999;
  constexpr double kMost = 0.5;
  const auto pairs = static_cast<double>(ordered.size()) -
                     static_cast<double>(std::ranges::count(ordered, kNoRow));
  const auto fitting = static_cast<double>(pairs_that_fit(first, second, ordered));
  if (fit.agreement >= kNearlyAll && fitting >= kNearlyAll * pairs) return true;
  return fit.agreement >= kAlike && fit.shift == 0 && first.end.size() == second.end.size() &&
         fitting >= kMost * pairs;
}

}  // namespace

std::vector<uint32_t> align_sequences(const LaneCalls& first, const LaneCalls& second,
                                      const std::optional<RoughClock>& rough) {
  if (first.end.empty() || second.end.empty()) {
    return std::vector<uint32_t>(first.end.size(), kNoRow);
  }
  if (!first.sequence.empty() && !second.sequence.empty()) return by_numbers(first, second);
  const Fit fit = ShiftSearch(first, second, rough).best();
  std::vector<uint32_t> ordered = fit.agreement > 0
                                      ? by_order(first, second, fit.shift)
                                      : std::vector<uint32_t>(first.end.size(), kNoRow);
  if (is_plausible(first, second, fit, ordered)) return ordered;
  // A missing collective shifts all that follow; then times are more reliable than order.
  constexpr Nanoseconds kClose = 1'000'000;
  std::vector<uint32_t> timed = align_by_time(first, second, rough);
  const auto by_time = static_cast<double>(pairs_that_fit(first, second, timed, kClose));
  const auto by_place = static_cast<double>(pairs_that_fit(first, second, ordered, kClose));
  return kNearlyAll * by_time > by_place ? timed : ordered;
}

}  // namespace llmprof::job
