#include "analysis/memory_ledger/ledger_timeline.h"

#include <algorithm>
#include <utility>

namespace llmprof::analysis {

std::set<size_t> readings_to_show(const std::vector<UsedMemory>& readings, size_t stretches,
                                  std::set<size_t> keep) {
  if (readings.empty()) return {};
  keep.insert(0);
  keep.insert(readings.size() - 1);
  const Nanoseconds start = readings.front().time;
  const Nanoseconds span = readings.back().time - start;
  const Nanoseconds length = span / static_cast<Nanoseconds>(std::max<size_t>(stretches, 1)) + 1;
  size_t highest = 0;
  for (size_t i = 1; i < readings.size(); ++i) {
    if ((readings[i].time - start) / length != (readings[highest].time - start) / length) {
      keep.insert(highest);
      highest = i;
    } else if (readings[i].used > readings[highest].used) {
      highest = i;
    }
  }
  keep.insert(highest);
  return keep;
}

}  // namespace llmprof::analysis
