#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace llmprof::load {

// "500ms", "2s", "90", "5m", "1h": a number without a unit is seconds. More than 0. Errors are of
// kind usage and name the option.
Result<int64_t> parse_duration_ns(std::string_view text, std::string_view option);

// "12", "0.5": more than 0.
Result<double> parse_positive(std::string_view text, std::string_view option);

// "rate=1,2,4" or "concurrency=1,8".
struct Sweep {
  bool is_rate = true;
  std::vector<double> values;
};
Result<Sweep> parse_sweep(std::string_view text);

}  // namespace llmprof::load
