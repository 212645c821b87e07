#include "job/collectives/match.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <span>

#include "base/quantiles.h"
#include "job/clock/align_clocks.h"

namespace llmprof::job {
namespace {

constexpr size_t kBlock = 256;            // collectives that vote for an offset
constexpr size_t kMostVotes = 4'000'000;  // per block
constexpr Nanoseconds kNarrowest = 20'000;
constexpr Nanoseconds kWidest = 1'000'000;
constexpr Nanoseconds kLeastTolerance = 50'000;
constexpr Nanoseconds kMostTolerance = 50'000'000;

Nanoseconds median_interval(const LaneCalls& of) {
  std::vector<Nanoseconds> intervals;
  for (size_t i = 1; i < of.end.size(); ++i) intervals.push_back(of.end[i] - of.end[i - 1]);
  return intervals.empty() ? kWidest : median(std::span(intervals));
}

Nanoseconds tolerance_of(const LaneCalls& first, const LaneCalls& second) {
  const Nanoseconds interval = std::min(median_interval(first), median_interval(second));
  return std::clamp(interval / 2, kLeastTolerance, kMostTolerance);
}

struct Offset {
  Nanoseconds value = 0;
  size_t votes = 0;
  size_t anchor = 0;  // place in the second sequence that voted
};

// The offset that most pairs of a short run of collectives agree on; short, so that drift is
// negligible.
Offset voted_offset(const LaneCalls& first, const LaneCalls& second, size_t from, Nanoseconds width,
                    const std::optional<RoughClock>& rough) {
  std::vector<Nanoseconds> votes;
  const size_t to = std::min(second.end.size(), from + kBlock);
  for (size_t i = from; i < to && votes.size() < kMostVotes; ++i) {
    auto begin = first.end.begin();
    auto end = first.end.end();
    if (rough) {
      const Nanoseconds expected = second.end[i] + rough->offset;
      begin = std::lower_bound(begin, end, expected - rough->tolerance);
      end = std::upper_bound(begin, end, expected + rough->tolerance);
    }
    for (auto at = begin; at != end; ++at) {
      const auto j = static_cast<size_t>(at - first.end.begin());
      if (first.token[j] == second.token[i]) votes.push_back(*at - second.end[i]);
    }
  }
  std::ranges::sort(votes);
  Offset best{0, 0, from + (to - from) / 2};
  const auto far = [&](Nanoseconds offset) {
    return rough ? std::abs(offset - rough->offset) : std::abs(offset);
  };
  for (size_t low = 0, high = 0; low < votes.size(); ++low) {
    while (high < votes.size() && votes[high] - votes[low] <= width) ++high;
    const size_t number = high - low;
    const Nanoseconds middle = votes[low + number / 2];
    if (number > best.votes || (number == best.votes && far(middle) < far(best.value))) {
      best.votes = number;
      best.value = middle;
    }
  }
  return best;
}

// Walks forward and backward from the place of the second sequence that voted for the offset, which
// follows the drift.
std::vector<uint32_t> matched_along(const LaneCalls& first, const LaneCalls& second,
                                    Nanoseconds tolerance, const Offset& offset) {
  std::vector<uint32_t> match(first.end.size(), kNoRow);
  auto running = static_cast<double>(offset.value);
  // Matches second[i] with the nearest one in [from, to) of the first sequence.
  const auto take_nearest = [&](size_t i, size_t from, size_t to) {
    const Nanoseconds expected = second.end[i] + std::llround(running);
    const auto ends = std::span(first.end).subspan(from, to - from);
    std::optional<size_t> best;
    Nanoseconds distance = tolerance + 1;
    auto at = std::ranges::lower_bound(ends, expected - tolerance);
    for (; at != ends.end() && *at <= expected + tolerance; ++at) {
      const size_t j = from + static_cast<size_t>(at - ends.begin());
      const Nanoseconds away = std::abs(*at - expected);
      if (first.token[j] != second.token[i] || away >= distance) continue;
      distance = away;
      best = j;
    }
    if (!best) return best;
    match[*best] = static_cast<uint32_t>(i);
    constexpr double kFollow = 0.1;
    running += kFollow * (static_cast<double>(first.end[*best] - second.end[i]) - running);
    return best;
  };
  size_t free = 0;  // first place that is not taken
  for (size_t i = offset.anchor; i < second.end.size(); ++i) {
    if (const auto found = take_nearest(i, free, first.end.size())) free = *found + 1;
  }
  const auto taken = std::ranges::find_if(match, [](uint32_t row) { return row != kNoRow; });
  auto end = static_cast<size_t>(taken - match.begin());
  running = static_cast<double>(offset.value);
  for (size_t i = offset.anchor; i-- > 0;) {
    if (const auto found = take_nearest(i, 0, end)) end = *found;
  }
  return match;
}

// Keeps enough times to fit a line.
std::vector<Nanoseconds> thinned(const std::vector<Nanoseconds>& times) {
  constexpr size_t kEnough = 2000;
  if (times.size() <= kEnough) return times;
  std::vector<Nanoseconds> some;
  some.reserve(kEnough);
  for (size_t i = 0; i < kEnough; ++i) some.push_back(times[i * times.size() / kEnough]);
  return some;
}

}  // namespace

std::vector<uint32_t> align_by_time(const LaneCalls& first, const LaneCalls& second,
                                    const std::optional<RoughClock>& rough) {
  const Nanoseconds tolerance = tolerance_of(first, second);
  Offset offset;
  if (rough && rough->exact) {
    offset.value = rough->offset;
  } else {
    const Nanoseconds width = std::clamp(tolerance / 2, kNarrowest, kWidest);
    for (const size_t quarter : {2U, 1U, 3U}) {
      const size_t middle = second.end.size() * quarter / 4;
      const size_t from = middle > kBlock / 2 ? middle - kBlock / 2 : 0;
      const Offset voted = voted_offset(first, second, from, width, rough);
      if (voted.votes > offset.votes) offset = voted;
    }
  }
  return matched_along(first, second, tolerance, offset);
}

size_t pairs_that_fit(const LaneCalls& first, const LaneCalls& second,
                      const std::vector<uint32_t>& match, Nanoseconds most) {
  std::vector<Nanoseconds> on_first;
  std::vector<Nanoseconds> on_second;
  for (size_t i = 0; i < match.size(); ++i) {
    if (match[i] == kNoRow) continue;
    on_first.push_back(first.end[i]);
    on_second.push_back(second.end[match[i]]);
  }
  if (on_first.empty()) return 0;
  const ClockFit fit = fit_clock(thinned(on_first), thinned(on_second));
  const Nanoseconds tolerance = std::min(most, tolerance_of(first, second));
  size_t number = 0;
  for (size_t i = 0; i < on_first.size(); ++i) {
    const Nanoseconds expected =
        on_second[i] + fit.offset + std::llround(fit.drift * static_cast<double>(on_second[i]));
    if (std::abs(on_first[i] - expected) <= tolerance) ++number;
  }
  return number;
}

}  // namespace llmprof::job
