#include "job/clock/align_clocks.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "base/quantiles.h"
#include "job/job_clock.h"

namespace llmprof::job {
namespace {

using profile::ClockMethod;

constexpr double kPartsPerMillion = 1e6;
// Quartz oscillators differ by tens of ppm; a larger slope is not drift.
constexpr double kLargestDrift = 500e-6;
constexpr size_t kFewestForDrift = 8;
constexpr int kFitRounds = 6;

double median_absolute(const std::vector<double>& values) {
  std::vector<double> absolute(values.size());
  std::ranges::transform(values, absolute.begin(), [](double value) { return std::abs(value); });
  return median(std::span(absolute));
}

// Differences against time, both relative to the middle point, so that doubles hold them exactly.
struct Points {
  Nanoseconds time_0 = 0;
  Nanoseconds difference_0 = 0;
  std::vector<double> time;
  std::vector<double> difference;
};

Points points_of(const std::vector<Nanoseconds>& on_first,
                 const std::vector<Nanoseconds>& on_second) {
  Points points;
  const size_t middle = on_second.size() / 2;
  points.time_0 = on_second[middle];
  points.difference_0 = on_first[middle] - on_second[middle];
  points.time.reserve(on_second.size());
  points.difference.reserve(on_second.size());
  for (size_t i = 0; i < on_second.size(); ++i) {
    points.time.push_back(static_cast<double>(on_second[i] - points.time_0));
    points.difference.push_back(
        static_cast<double>(on_first[i] - on_second[i] - points.difference_0));
  }
  return points;
}

struct Line {
  double at_0 = 0;
  double slope = 0;
};

std::vector<double> residuals_of(const Points& points, const Line& line) {
  std::vector<double> left(points.time.size());
  for (size_t i = 0; i < left.size(); ++i) {
    left[i] = points.difference[i] - line.at_0 - line.slope * points.time[i];
  }
  return left;
}

Line first_line(const Points& points) {
  Line line{0, robust_slope(points.time, points.difference)};
  line.at_0 = median(residuals_of(points, line));
  return line;
}

// Least squares over the points within three deviations of the previous line.
Line refined(const Points& points, const Line& before) {
  const auto left = residuals_of(points, before);
  // 1.4826 is the ratio of standard to median absolute deviation in a normal distribution. Clocks
  // count whole nanoseconds, so 1 ns is never an outlier.
  const double limit = std::max(3 * 1.4826 * median_absolute(left), 1.0);
  double n = 0;
  double sum_t = 0;
  double sum_r = 0;
  for (size_t i = 0; i < left.size(); ++i) {
    if (std::abs(left[i]) > limit) continue;
    n += 1;
    sum_t += points.time[i];
    sum_r += left[i];
  }
  if (n < 2) return before;
  const double mean_t = sum_t / n;
  const double mean_r = sum_r / n;
  double covariance = 0;
  double variance = 0;
  for (size_t i = 0; i < left.size(); ++i) {
    if (std::abs(left[i]) > limit) continue;
    covariance += (points.time[i] - mean_t) * (left[i] - mean_r);
    variance += (points.time[i] - mean_t) * (points.time[i] - mean_t);
  }
  Line line = before;
  const double more = variance > 0 ? covariance / variance : 0;
  line.slope += more;
  line.at_0 += mean_r - more * mean_t;
  return line;
}

Line robust_line(const Points& points) {
  const Line constant{median(points.difference), 0};
  if (points.time.size() < kFewestForDrift) return constant;
  Line line = first_line(points);
  for (int round = 0; round < kFitRounds; ++round) line = refined(points, line);
  if (std::abs(line.slope) > kLargestDrift) return constant;
  const auto [first, last] = std::ranges::minmax_element(points.time);
  // A drift smaller than the noise would only add error outside the measured moments.
  const double over_span = std::abs(line.slope) * (*last - *first);
  if (over_span <= median_absolute(residuals_of(points, line))) return constant;
  return line;
}

profile::RankClock clock_of(ClockMethod method, Nanoseconds offset, double drift) {
  profile::RankClock clock;
  clock.method = method;
  clock.offset_ns = {offset};
  clock.drift_ppm = drift * kPartsPerMillion;
  return clock;
}

// Clock of a part whose time t is t + fit on `through`'s clock.
profile::RankClock composed(const profile::RankClock& through, const ClockFit& fit,
                            ClockMethod method) {
  const double outer = through.drift_ppm / kPartsPerMillion;
  const Nanoseconds offset =
      through.offset_ns.value + fit.offset + std::llround(outer * static_cast<double>(fit.offset));
  return clock_of(method, offset, outer + fit.drift + outer * fit.drift);
}

struct Aligning {
  const std::vector<RankPart>& parts;
  const std::vector<SameMoments>& moments;
  std::vector<std::optional<profile::RankClock>> clocks;
};

// Gives every part that shares a clock with `known` its clock.
void spread_in_domain(uint32_t known, Aligning& state) {
  for (uint32_t other = 0; other < state.parts.size(); ++other) {
    if (state.clocks[other]) continue;
    const auto stated = stated_clocks(state.parts[known].identity, state.parts[other].identity);
    if (!stated.shared) continue;
    const ClockMethod method = state.clocks[known]->method;
    state.clocks[other] = composed(*state.clocks[known], {stated.offset, 0},
                                   method == ClockMethod::reference ? ClockMethod::shared : method);
    state.clocks[other]->collectives =
        method == ClockMethod::reference ? 0 : state.clocks[known]->collectives;
  }
}

// Joins an unknown clock to a known one by the largest set of moments, then repeats.
void join_by_moments(Aligning& state) {
  const SameMoments* best = nullptr;
  for (const SameMoments& each : state.moments) {
    if (each.on_first.empty()) continue;
    if (state.clocks[each.first].has_value() == state.clocks[each.second].has_value()) continue;
    if (best == nullptr || each.on_first.size() > best->on_first.size()) best = &each;
  }
  if (best == nullptr) return;
  const bool forward = state.clocks[best->first].has_value();
  const uint32_t known = forward ? best->first : best->second;
  const uint32_t found = forward ? best->second : best->first;
  const ClockFit fit = forward ? fit_clock(best->on_first, best->on_second)
                               : fit_clock(best->on_second, best->on_first);
  state.clocks[found] = composed(*state.clocks[known], fit, ClockMethod::collectives);
  state.clocks[found]->collectives = best->on_first.size();
  spread_in_domain(found, state);
  join_by_moments(state);
}

void join_by_wall_clock(Aligning& state) {
  for (uint32_t other = 0; other < state.parts.size(); ++other) {
    if (state.clocks[other]) continue;
    for (uint32_t known = 0; known < state.parts.size(); ++known) {
      if (!state.clocks[known] || state.clocks[known]->method == ClockMethod::none) continue;
      const auto stated = stated_clocks(state.parts[known].identity, state.parts[other].identity);
      if (!stated.wall) continue;
      state.clocks[other] =
          composed(*state.clocks[known], {stated.offset, 0}, ClockMethod::wall_clock);
      spread_in_domain(other, state);
      join_by_moments(state);
      break;
    }
  }
}

// Ranks that nothing joins to the reference keep their own clocks, but may be compared with each
// other.
void add_islands(Aligning& state) {
  for (uint32_t part = 0; part < state.parts.size(); ++part) {
    if (state.clocks[part]) continue;
    const auto known_before = state.clocks;
    state.clocks[part] = clock_of(ClockMethod::none, 0, 0);
    spread_in_domain(part, state);
    join_by_moments(state);
    for (uint32_t other = 0; other < state.parts.size(); ++other) {
      if (!known_before[other] && state.clocks[other])
        state.clocks[other]->method = ClockMethod::none;
    }
  }
}

void add_residuals(Aligning& state) {
  std::vector<std::vector<double>> left(state.parts.size());
  for (const SameMoments& each : state.moments) {
    const auto& first = *state.clocks[each.first];
    const auto& second = *state.clocks[each.second];
    // Counted for the second part, unless that is the reference.
    const uint32_t of = second.method == ClockMethod::reference ? each.first : each.second;
    for (size_t i = 0; i < each.on_first.size(); ++i) {
      left[of].push_back(std::abs(static_cast<double>(job_time(first, each.on_first[i]) -
                                                      job_time(second, each.on_second[i]))));
    }
  }
  for (size_t part = 0; part < left.size(); ++part) {
    if (left[part].empty()) continue;
    state.clocks[part]->collectives = left[part].size();
    state.clocks[part]->residual_max =
        profile::to_milliseconds(*std::ranges::max_element(left[part]));
    state.clocks[part]->residual_p50 = profile::to_milliseconds(median(std::span(left[part])));
  }
}

}  // namespace

Nanoseconds job_time(const profile::RankClock& clock, Nanoseconds rank_time) {
  return JobClock(clock).job_time(rank_time);
}

double robust_slope(const std::vector<double>& time, const std::vector<double>& difference) {
  const size_t half = time.size() / 2;
  std::vector<double> slopes;
  slopes.reserve(half + 1);
  for (size_t i = 0; i + half < time.size(); ++i) {
    const double apart = time[i + half] - time[i];
    if (apart > 0) slopes.push_back((difference[i + half] - difference[i]) / apart);
  }
  return slopes.empty() ? 0 : median(std::span(slopes));
}

ClockFit fit_clock(const std::vector<Nanoseconds>& on_first,
                   const std::vector<Nanoseconds>& on_second) {
  if (on_first.empty()) return {};
  const Points points = points_of(on_first, on_second);
  const Line line = robust_line(points);
  ClockFit fit;
  fit.drift = line.slope;
  fit.offset = points.difference_0 +
               std::llround(line.at_0 - line.slope * static_cast<double>(points.time_0));
  return fit;
}

uint32_t reference_part(const std::vector<RankPart>& parts) {
  uint32_t best = 0;
  const auto worked = [](const RankPart& part) {
    return part.collectives.size() > 0 || !part.step_start.empty();
  };
  for (uint32_t i = 1; i < parts.size(); ++i) {
    if (worked(parts[i]) != worked(parts[best])) {
      if (worked(parts[i])) best = i;
    } else if (parts[i].identity.rank < parts[best].identity.rank) {
      best = i;
    }
  }
  return best;
}

StatedClocks stated_clocks(const RankIdentity& first, const RankIdentity& second) {
  StatedClocks stated;
  if (!first.clock_domain.empty() && first.clock_domain == second.clock_domain && first.clock_ns &&
      second.clock_ns) {
    stated.shared = true;
    stated.offset = *second.clock_ns - *first.clock_ns;
  } else if (first.wall_clock_ns && second.wall_clock_ns) {
    stated.wall = true;
    stated.offset = *second.wall_clock_ns - *first.wall_clock_ns;
  }
  return stated;
}

std::vector<profile::RankClock> align_clocks(const std::vector<RankPart>& parts,
                                             const std::vector<SameMoments>& moments) {
  if (parts.empty()) return {};
  Aligning state{parts, moments, {}};
  state.clocks.resize(parts.size());
  const uint32_t reference = reference_part(parts);
  state.clocks[reference] = clock_of(ClockMethod::reference, 0, 0);
  spread_in_domain(reference, state);
  join_by_moments(state);
  join_by_wall_clock(state);
  add_islands(state);
  add_residuals(state);
  std::vector<profile::RankClock> clocks;
  clocks.reserve(state.clocks.size());
  for (const auto& clock : state.clocks) clocks.push_back(*clock);
  return clocks;
}

}  // namespace llmprof::job
