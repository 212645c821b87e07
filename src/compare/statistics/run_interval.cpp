#include "compare/statistics/estimate.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/quantiles.h"

namespace llmprof::compare {
namespace {

constexpr size_t kFewestForRanks = 5;
// Beyond this, the exact distribution takes minutes and Student's t is as good.
constexpr size_t kMostForRanks = 40;
constexpr double kOutside = 0.05;

struct Moments {
  double mean = 0;
  double variance = 0;  // of a sample
};

Moments moments(std::span<const double> values) {
  Moments found;
  const auto count = static_cast<double>(values.size());
  for (const double value : values) found.mean += value / count;
  if (values.size() < 2) return found;
  for (const double value : values) {
    found.variance += (value - found.mean) * (value - found.mean) / (count - 1);
  }
  return found;
}

void set_interval(double half, Method method, Comparison& into) {
  into.low = *into.difference - half;
  into.high = *into.difference + half;
  into.method = method;
}

void by_ranks(std::span<const double> base, std::span<const double> now, size_t left_out,
              Comparison& into) {
  std::vector<double> differences;
  differences.reserve(base.size() * now.size());
  for (const double from : base) {
    for (const double to : now) differences.push_back(to - from);
  }
  std::ranges::sort(differences);
  const size_t count = differences.size();
  // If one run is far from the others, the difference of the means may be outside.
  into.low = std::min(differences[left_out], *into.difference);
  into.high = std::max(differences[count - 1 - left_out], *into.difference);
  into.method = Method::rank_interval;
}

}  // namespace

std::optional<size_t> differences_left_out(size_t base, size_t now) {
  // ways[u]: orders of both sides with u pairs in the wrong order.
  std::vector<std::vector<double>> ways(now + 1, std::vector<double>(base * now + 1, 0));
  for (auto& row : ways) row[0] = 1;
  for (size_t b = 1; b <= base; ++b) {
    for (size_t n = 1; n <= now; ++n) {
      // The largest value is either in `now`, above all b of base, or in base.
      std::vector<double> next = ways[n];
      for (size_t u = b; u < next.size(); ++u) next[u] += ways[n - 1][u - b];
      ways[n] = std::move(next);
    }
  }
  double all = 0;
  for (const double way : ways[now]) all += way;
  double below = 0;
  std::optional<size_t> left_out;
  for (size_t u = 0; u <= base * now; ++u) {
    below += ways[now][u];
    if (2 * below > kOutside * all) break;
    left_out = u;
  }
  return left_out;
}

Comparison independent_difference(std::span<const double> base, std::span<const double> now) {
  Comparison found;
  found.base_count = base.size();
  found.now_count = now.size();
  const Moments from = moments(base);
  const Moments to = moments(now);
  found.base = from.mean;
  found.now = to.mean;
  found.difference = to.mean - from.mean;
  const size_t fewest = std::min(base.size(), now.size());
  const size_t most = std::max(base.size(), now.size());
  if (fewest >= kFewestForRanks && most <= kMostForRanks) {
    if (const auto left_out = differences_left_out(base.size(), now.size())) {
      by_ranks(base, now, *left_out, found);
      return found;
    }
  }
  const double base_part = from.variance / static_cast<double>(base.size());
  const double now_part = to.variance / static_cast<double>(now.size());
  if (fewest >= 2) {
    const double both = base_part + now_part;
    const double freedom = both == 0
                               ? static_cast<double>(fewest - 1)
                               : both * both /
                                     (base_part * base_part / static_cast<double>(base.size() - 1) +
                                      now_part * now_part / static_cast<double>(now.size() - 1));
    set_interval(student_t_975(freedom) * std::sqrt(both), Method::welch, found);
  } else if (most >= 2) {
    // The single run of the other side is assumed to vary like these.
    const double variance = std::max(from.variance, to.variance);
    const auto several = static_cast<double>(most);
    set_interval(student_t_975(several - 1) * std::sqrt(variance * (1 + 1 / several)),
                 Method::one_against_runs, found);
  }
  return found;
}

}  // namespace llmprof::compare
