#pragma once

#include <unordered_map>
#include <utility>

#include "analysis/ranking/kernels.h"
#include "trace/trace.h"

namespace llmprof::exports {

// Finds a kernel's row in the ranking: its class, its short name, what ncu measured of it.
class KernelRows {
 public:
  KernelRows(const trace::Trace& trace, const analysis::KernelRanking& ranking);

  static constexpr uint32_t kNone = UINT32_MAX;
  // By row of Trace::kernels; kNone where the ranking is not of the timeline.
  [[nodiscard]] uint32_t of(size_t kernel) const;

 private:
  const trace::Trace& trace_;
  std::unordered_map<uint64_t, uint32_t> rows_;  // by name and device
};

// Calls visit(first, end) for the samples of each counter of each device: rows of Trace::counters.
template <class Visit>
void each_counter(const trace::CounterTable& counters, const Visit& visit) {
  for (size_t first = 0, row = 0; first < counters.size(); first = row) {
    while (row < counters.size() && counters.device[row] == counters.device[first] &&
           counters.metric[row] == counters.metric[first]) {
      ++row;
    }
    visit(first, row);
  }
}

// A sample's value holds from its start to its end, and falls to 0 where no other begins there;
// what was read at an instant holds until the next.
inline bool falls_to_zero(const trace::CounterTable& counters, size_t row, size_t end) {
  const bool followed = row + 1 < end && counters.start[row + 1] <= counters.end[row];
  return counters.end[row] > counters.start[row] && !followed;
}

}  // namespace llmprof::exports
