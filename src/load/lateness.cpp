#include "load/lateness.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/quantiles.h"

namespace llmprof::load {
namespace {

constexpr double kMillisecond = 1e6;
constexpr double kLeastLimitNs = kMillisecond;
constexpr double kShareOfGap = 0.1;

}  // namespace

std::optional<Lateness> measure_lateness(std::vector<int64_t> lateness) {
  constexpr double kP50 = 0.5;
  constexpr double kP99 = 0.99;
  if (lateness.empty()) return std::nullopt;
  const std::span values(lateness);
  Lateness measured;
  measured.p50_ns = nearest_rank(values, kP50);
  measured.p99_ns = nearest_rank(values, kP99);
  measured.max_ns = *std::ranges::max_element(lateness);
  return measured;
}

std::optional<std::string> why_not_held(const std::vector<int64_t>& lateness, double mean_gap_ns) {
  constexpr size_t kTenth = 10;
  const auto all = measure_lateness(lateness);
  if (!all) return std::nullopt;
  const double limit_ns = std::max(kLeastLimitNs, kShareOfGap * mean_gap_ns);
  constexpr std::string_view kRemedy =
      "lower the rate, end other programs on this machine, or send from another one";
  const size_t tail = std::max<size_t>(1, lateness.size() / kTenth);
  const auto last =
      measure_lateness({lateness.end() - static_cast<std::ptrdiff_t>(tail), lateness.end()});
  if (static_cast<double>(last->p50_ns) > limit_ns) {
    return fmt::format(
        "it fell behind its schedule: the median of the last {} requests was sent {:.1f} ms late; "
        "{}",
        tail, static_cast<double>(last->p50_ns) / kMillisecond, kRemedy);
  }
  if (static_cast<double>(all->p99_ns) > limit_ns) {
    return fmt::format(
        "99 % of requests were sent up to {:.2f} ms late, above the limit of {:.2f} "
        "ms (1 ms or 10 % of the mean gap between requests); {}",
        static_cast<double>(all->p99_ns) / kMillisecond, limit_ns / kMillisecond, kRemedy);
  }
  return std::nullopt;
}

}  // namespace llmprof::load
