#pragma once

#include <cstddef>
#include <set>
#include <vector>

#include "base/units.h"

namespace llmprof::analysis {

// One reading of a GPU's memory.
struct UsedMemory {
  Nanoseconds time = 0;
  uint64_t used = 0;  // bytes
};

// Indices of the readings that show how memory changed: of each of `stretches` equally long ones
// that with most memory in use, the first, the last, and those to keep. Readings are by time.
std::set<size_t> readings_to_show(const std::vector<UsedMemory>& readings, size_t stretches,
                                  std::set<size_t> keep);

}  // namespace llmprof::analysis
