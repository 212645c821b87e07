#include "report/format/typical.h"

#include <fmt/format.h>

#include "report/format/figures.h"

namespace llmprof::report {
namespace {

constexpr double kWideDeviation = 0.25;  // of the mean
constexpr double kWideRange = 1.5;       // longest over shortest
constexpr uint64_t kFew = 3;

}  // namespace

bool is_few(const Times& times) { return times.count <= kFew; }

bool widely_spread(const Times& times) {
  if (times.count < 2 || !times.mean || !times.min || !times.max) return false;
  if (times.std && times.std->value > kWideDeviation * times.mean->value) return true;
  return is_few(times) && times.max->value > kWideRange * times.min->value;
}

std::string typical_ms(const Times& times, std::string_view one) {
  if (!widely_spread(times)) return fmt::format("{} ms", ms(times.mean));
  if (is_few(times)) {
    return fmt::format("{} ms ({})", range_ms(times), counted(times.count, one));
  }
  return fmt::format("{} ms (median; {} ms in {})", ms(times.p50), range_ms(times),
                     counted(times.count, one));
}

Typical typical(const Times& times, std::string_view one, std::string_view many) {
  const std::string of = counted(times.count, one, many);
  if (!widely_spread(times)) return {text_of(ms(times.mean)), times.mean, "mean of " + of};
  if (is_few(times)) return {range_ms(times), times.mean, "range of " + of};
  return {text_of(ms(times.p50)), times.p50,
          fmt::format("median of {}; {} ms", of, range_ms(times))};
}

std::string range_ms(const Times& times) {
  if (times.count == 0) return std::string(kMissing);
  return fmt::format("{} to {}", ms(times.min), ms(times.max));
}

}  // namespace llmprof::report
