#include "analysis/requests/load_judgement.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "base/quantiles.h"

namespace llmprof::analysis {
namespace {

using profile::LoadVerdict;

constexpr size_t kFewestRequests = 40;
// The first tenth of the time is the ramp-up.
constexpr double kRampUpShare = 0.1;
// Requests that wait make their neighbors wait: only means of parts are nearly independent.
constexpr size_t kParts = 10;
// Growth of the requests in flight, over the requests that were sent meanwhile. A server that keeps
// up has random growth too: about the square root of their number.
constexpr double kSmallestGrowth = 0.03;
constexpr double kRandomGrowth = 1.5;

struct PartMeans {
  double time = 0;
  double in_flight = 0;
  double ttft = 0;
  double requests = 0;
  double first_tokens = 0;
};

struct Slope {
  double value = 0;
  bool significant = false;  // positive, with 97.5 % confidence
};

// Least squares.
Slope slope_of(const std::vector<std::pair<double, double>>& points) {
  const auto count = static_cast<double>(points.size());
  if (points.size() < 3) return {};
  double mean_x = 0;
  double mean_y = 0;
  for (const auto& [x, y] : points) {
    mean_x += x / count;
    mean_y += y / count;
  }
  double squares = 0;
  double products = 0;
  for (const auto& [x, y] : points) {
    squares += (x - mean_x) * (x - mean_x);
    products += (x - mean_x) * (y - mean_y);
  }
  if (!(squares > 0)) return {};
  Slope slope;
  slope.value = products / squares;
  double residuals = 0;
  for (const auto& [x, y] : points) {
    const double apart = y - mean_y - slope.value * (x - mean_x);
    residuals += apart * apart;
  }
  const double error = std::sqrt(residuals / (count - 2) / squares);
  slope.significant = slope.value > student_t_975(count - 2) * error;
  return slope;
}

// By request: how many are in flight once it is sent.
std::vector<double> seen_in_flight(std::span<const SentRequest> requests) {
  std::vector<Nanoseconds> ends;
  ends.reserve(requests.size());
  for (const SentRequest& request : requests) ends.push_back(request.end);
  std::ranges::sort(ends);
  std::vector<double> seen;
  seen.reserve(requests.size());
  for (size_t i = 0; i < requests.size(); ++i) {
    const auto ended = std::ranges::upper_bound(ends, requests[i].sent) - ends.begin();
    seen.push_back(static_cast<double>(i + 1) - static_cast<double>(ended));
  }
  return seen;
}

}  // namespace

std::vector<ConcurrencyChange> concurrency_of(std::span<const SentRequest> requests) {
  // At equal times, ends count first.
  std::vector<std::pair<Nanoseconds, int>> events;
  events.reserve(2 * requests.size());
  for (const SentRequest& request : requests) {
    if (request.end <= request.sent) continue;
    events.emplace_back(request.sent, 1);
    events.emplace_back(request.end, -1);
  }
  std::ranges::sort(events);
  std::vector<ConcurrencyChange> changes;
  int64_t now = 0;
  for (const auto& [time, change] : events) {
    now += change;
    if (changes.empty() || changes.back().time != time) changes.push_back({time, 0});
    changes.back().requests = static_cast<uint64_t>(now);
  }
  return changes;
}

LoadVerdict judge_load(std::span<const SentRequest> requests) {
  if (requests.size() < kFewestRequests) return LoadVerdict::short_load;
  const Nanoseconds first = requests.front().sent;
  const auto whole = static_cast<double>(requests.back().sent - first);
  if (!(whole > 0)) return LoadVerdict::short_load;
  const std::vector<double> in_flight = seen_in_flight(requests);
  std::array<PartMeans, kParts> parts;
  const double begin = kRampUpShare * whole;
  double sent = 0;
  for (size_t i = 0; i < requests.size(); ++i) {
    const auto time = static_cast<double>(requests[i].sent - first);
    if (time < begin) continue;
    const double place = (time - begin) / (whole - begin) * double{kParts};
    PartMeans& part = parts[std::min(static_cast<size_t>(place), kParts - 1)];
    part.time += time;
    part.in_flight += in_flight[i];
    ++part.requests;
    ++sent;
    if (!requests[i].ttft) continue;
    part.ttft += static_cast<double>(*requests[i].ttft);
    ++part.first_tokens;
  }
  std::vector<std::pair<double, double>> concurrency;
  std::vector<std::pair<double, double>> first_tokens;
  for (const PartMeans& part : parts) {
    if (part.requests == 0) continue;
    const double time = part.time / part.requests;
    concurrency.emplace_back(time, part.in_flight / part.requests);
    if (part.first_tokens > 0) first_tokens.emplace_back(time, part.ttft / part.first_tokens);
  }
  const Slope grows = slope_of(concurrency);
  const double growth = grows.value * (whole - begin) / sent;
  const bool beyond_chance = growth > std::max(kSmallestGrowth, kRandomGrowth / std::sqrt(sent));
  const bool over = grows.significant && beyond_chance && slope_of(first_tokens).significant;
  return over ? LoadVerdict::over_saturated : LoadVerdict::steady;
}

std::optional<Nanoseconds> end_of_ramp_up(std::span<const SentRequest> requests,
                                          std::span<const ConcurrencyChange> concurrency) {
  if (requests.size() < kFewestRequests) return std::nullopt;
  const Nanoseconds first = requests.front().sent;
  const Nanoseconds quarter = (requests.back().sent - first) / 4;
  const Nanoseconds begin = first + quarter;
  const Nanoseconds end = requests.back().sent - quarter;
  // Time of the middle half by the requests in flight then.
  std::vector<std::pair<uint64_t, Nanoseconds>> times;
  Nanoseconds total = 0;
  for (size_t i = 0; i < concurrency.size(); ++i) {
    const Nanoseconds next = i + 1 < concurrency.size() ? concurrency[i + 1].time : end;
    const Nanoseconds time = std::min(next, end) - std::max(concurrency[i].time, begin);
    if (time <= 0) continue;
    times.emplace_back(concurrency[i].requests, time);
    total += time;
  }
  std::ranges::sort(times);
  uint64_t level = 0;
  Nanoseconds before = 0;
  for (const auto& [in_flight, time] : times) {
    level = in_flight;
    before += time;
    if (2 * before >= total) break;
  }
  const auto reached = std::ranges::find_if(
      concurrency, [&](const ConcurrencyChange& change) { return change.requests >= level; });
  if (level == 0 || reached == concurrency.end() || reached->time <= first) return std::nullopt;
  return reached->time - first;
}

}  // namespace llmprof::analysis
