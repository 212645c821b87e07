#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace llmprof::compare {

// Values of one run in the order of time. Only values of one group are like each other.
struct Series {
  std::vector<double> values;
  std::vector<uint32_t> groups;  // one per value

  friend bool operator==(const Series&, const Series&) = default;
};

// What is compared of two sides. `shift` is the Hodges-Lehmann estimate: the median of all
// differences between a value of one side and one of the other.
enum class Statistic : uint8_t { shift, mean, p50, p90, p99 };
std::string_view to_string(Statistic statistic);
std::optional<Statistic> parse_statistic(std::string_view text);

}  // namespace llmprof::compare
