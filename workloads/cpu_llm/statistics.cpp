#include "cpu_llm/statistics.h"

#include <cmath>
#include <numeric>

namespace cpu_llm {

std::optional<Statistics> statistics(std::span<const double> values) {
  if (values.empty()) return std::nullopt;
  const auto count = static_cast<double>(values.size());
  Statistics result;
  result.count = values.size();
  result.mean = std::accumulate(values.begin(), values.end(), 0.0) / count;
  if (values.size() < 2) return result;
  double squares = 0;
  for (const double value : values) squares += (value - result.mean) * (value - result.mean);
  result.std = std::sqrt(squares / (count - 1));
  return result;
}

}  // namespace cpu_llm
