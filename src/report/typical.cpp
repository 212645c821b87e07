#include "report/typical.h"

#include <fmt/format.h>

#include "report/numbers.h"

namespace llmprof::report {
namespace {

constexpr double kWideDeviation = 0.25;  // of the mean
constexpr double kWideRange = 1.5;       // longest over shortest
constexpr uint64_t kFew = 3;

}  // namespace

bool is_few(const analysis::Statistics& statistics) { return statistics.count <= kFew; }

bool widely_spread(const analysis::Statistics& statistics) {
  if (statistics.count < 2) return false;
  if (statistics.std.value_or(0) > kWideDeviation * statistics.mean) return true;
  return is_few(statistics) &&
         static_cast<double>(statistics.max) > kWideRange * static_cast<double>(statistics.min);
}

std::string typical_ms(const analysis::Statistics& statistics, std::string_view one) {
  if (!widely_spread(statistics)) return ms(statistics.mean) + " ms";
  if (is_few(statistics)) {
    return fmt::format("{} ms ({})", range_ms(statistics), counted(statistics.count, one));
  }
  return fmt::format("{} ms (median; {} ms in {})", ms(statistics.p50), range_ms(statistics),
                     counted(statistics.count, one));
}

std::string range_ms(const analysis::Statistics& statistics) {
  if (statistics.count == 0) return std::string(kMissing);
  return fmt::format("{} to {}", ms(statistics.min), ms(statistics.max));
}

}  // namespace llmprof::report
