#include "compare/stages/apportion.h"

#include <cmath>

namespace llmprof::compare {

std::vector<int64_t> apportion(const std::vector<int64_t>& totals, double units) {
  std::vector<int64_t> shares;
  shares.reserve(totals.size());
  int64_t sum = 0;
  int64_t given = 0;
  for (const int64_t total : totals) {
    sum += total;
    const int64_t up_to_here = std::llround(static_cast<double>(sum) / units);
    shares.push_back(up_to_here - given);
    given = up_to_here;
  }
  return shares;
}

}  // namespace llmprof::compare
