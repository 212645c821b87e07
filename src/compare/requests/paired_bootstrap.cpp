#include "compare/requests/paired_bootstrap.h"

#include <algorithm>
#include <numeric>

#include "base/quantiles.h"
#include "compare/statistics/estimate.h"
#include "compare/statistics/resampling.h"

namespace llmprof::compare {
namespace {

// Values sorted once; a resample is a count per request.
class DrawnValues {
 public:
  DrawnValues(const RequestSamples& samples, size_t requests) : requests_(requests) {
    std::vector<uint32_t> order(samples.values.size());
    std::iota(order.begin(), order.end(), 0);
    std::ranges::sort(order, {}, [&](uint32_t row) { return samples.values[row]; });
    for (const uint32_t row : order) {
      if (samples.places[row] >= requests) continue;
      values_.push_back(samples.values[row]);
      places_.push_back(samples.places[row]);
    }
  }

  [[nodiscard]] size_t size() const { return values_.size(); }

  // None if no request with values was drawn.
  [[nodiscard]] std::optional<double> location(Statistic statistic,
                                               std::span<const uint32_t> drawn) const {
    double count = 0;
    double sum = 0;
    for (size_t i = 0; i < values_.size(); ++i) {
      count += drawn[places_[i]];
      sum += drawn[places_[i]] * values_[i];
    }
    if (count == 0) return std::nullopt;
    if (statistic == Statistic::mean) return sum / count;
    const size_t rank = nearest_rank_of(static_cast<size_t>(count), fraction_of(statistic));
    size_t before = 0;
    for (size_t i = 0; i < values_.size(); ++i) {
      before += drawn[places_[i]];
      if (before > rank) return values_[i];
    }
    return values_.back();
  }

  // The mean of each request's values; none of requests without values.
  [[nodiscard]] std::vector<std::optional<double>> means() const {
    std::vector<double> sum(requests_, 0);
    std::vector<double> count(requests_, 0);
    for (size_t i = 0; i < values_.size(); ++i) {
      sum[places_[i]] += values_[i];
      count[places_[i]] += 1;
    }
    std::vector<std::optional<double>> found(requests_);
    for (size_t i = 0; i < requests_; ++i) {
      if (count[i] > 0) found[i] = sum[i] / count[i];
    }
    return found;
  }

 private:
  size_t requests_;
  std::vector<double> values_;
  std::vector<uint32_t> places_;
};

// How much later each request is; neighbors that were in flight together are late together.
std::vector<double> differences_of(const DrawnValues& base, const DrawnValues& now) {
  const auto from = base.means();
  const auto to = now.means();
  std::vector<double> found;
  for (size_t i = 0; i < from.size(); ++i) {
    if (from[i] && to[i]) found.push_back(*to[i] - *from[i]);
  }
  return found;
}

void resample(const DrawnValues& base, const DrawnValues& now, size_t requests, Statistic statistic,
              Comparison& into) {
  const std::vector<double> pairs = differences_of(base, now);
  if (pairs.size() < kFewestForBootstrap) return;
  const size_t length = block_length(pairs);
  const size_t resamples = resamples_of(base.size() + now.size());
  Random random(kSeed);
  std::vector<uint32_t> drawn(requests);
  std::vector<double> differences;
  differences.reserve(resamples);
  for (size_t i = 0; i < resamples; ++i) {
    draw(length, random, drawn);
    const auto from = base.location(statistic, drawn);
    const auto to = now.location(statistic, drawn);
    if (from && to) differences.push_back(*to - *from);
  }
  if (differences.size() < resamples / 2) return;
  const double blocks = static_cast<double>(pairs.size()) / static_cast<double>(length);
  const double half = half_of_interval(deviation(differences), blocks, blocks - 1);
  into.low = *into.difference - half;
  into.high = *into.difference + half;
  into.base_block = length;
  into.now_block = length;
  into.method = Method::paired_bootstrap;
}

}  // namespace

std::optional<Comparison> paired_difference(const RequestSamples& base, const RequestSamples& now,
                                            Statistic statistic) {
  if (statistic == Statistic::shift) return std::nullopt;
  // A load that ends after a time may have sent more requests to the faster side.
  const size_t requests = std::min(base.requests, now.requests);
  const DrawnValues base_values(base, requests);
  const DrawnValues now_values(now, requests);
  const std::vector<uint32_t> all(requests, 1);
  const auto from = base_values.location(statistic, all);
  const auto to = now_values.location(statistic, all);
  if (!from || !to) return std::nullopt;
  Comparison found;
  found.base = from;
  found.now = to;
  found.difference = *to - *from;
  found.base_count = base_values.size();
  found.now_count = now_values.size();
  if (base.values == now.values && base.places == now.places) {
    found.low = found.high = 0;
    found.method = Method::identical;
    return found;
  }
  if (enough_beyond(std::min(base_values.size(), now_values.size()), statistic)) {
    resample(base_values, now_values, requests, statistic, found);
  }
  return found;
}

}  // namespace llmprof::compare
