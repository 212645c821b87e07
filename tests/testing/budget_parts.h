#pragma once

#include <map>
#include <numeric>
#include <string>

#include "analysis/budget/budget.h"

namespace llmprof::analysis {

// The parts that are not zero, by name.
using Parts = std::map<std::string, Nanoseconds>;
inline Parts parts_of(const PartTimes& times) {
  Parts parts;
  for (size_t part = 0; part < kBudgetParts; ++part) {
    if (times[part] != 0) parts[std::string(budget_part_name(part))] = times[part];
  }
  return parts;
}

inline Nanoseconds sum_of(const PartTimes& times) {
  return std::accumulate(times.begin(), times.end(), Nanoseconds{0});
}

}  // namespace llmprof::analysis
