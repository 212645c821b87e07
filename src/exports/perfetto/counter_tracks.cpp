#include "exports/perfetto/counter_tracks.h"

#include <algorithm>
#include <cmath>

namespace llmprof::exports {

void write_counter_tracks(const trace::Trace& trace, trace::DeviceId device, TrackUuid parent,
                          TraceFile& file) {
  const trace::CounterTable& counters = trace.counters;
  size_t row = 0;
  while (row < counters.size()) {
    const size_t first = row;
    const trace::MetricId metric = counters.metric[first];
    while (row < counters.size() && counters.device[row] == counters.device[first] &&
           counters.metric[row] == metric) {
      ++row;
    }
    if (counters.device[first] != device) continue;
    const trace::Metric& described = trace.metrics[metric];
    Sequence sequence = file.sequence(
        file.counter(parent, trace.strings[described.name], trace.strings[described.unit]));
    for (size_t i = first; i < row; ++i) {
      if (!std::isfinite(counters.value[i])) continue;
      sequence.counter(counters.start[i], counters.value[i]);
      const bool followed = i + 1 < row && counters.start[i + 1] <= counters.end[i];
      if (counters.end[i] > counters.start[i] && !followed) sequence.counter(counters.end[i], 0);
    }
  }
}

}  // namespace llmprof::exports
