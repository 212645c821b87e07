#pragma once

#include <cstddef>
#include <optional>
#include <span>

namespace cpu_llm {

struct Statistics {
  double mean = 0;
  std::optional<double> std;  // of the sample (n - 1); none for one value
  size_t count = 0;
};

// None without values.
std::optional<Statistics> statistics(std::span<const double> values);

}  // namespace cpu_llm
