#pragma once

#include "trace/trace.h"

namespace llmprof::exports {

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
