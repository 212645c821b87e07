#include "exports/perfetto/memory_track.h"

#include <algorithm>

namespace llmprof::exports {
namespace {

// Negative times are of damaged captures.
bool is_on_axis(const trace::MemoryReadingTable& readings, size_t row) {
  return readings.time[row] >= 0;
}

}  // namespace

Nanoseconds first_memory_reading(const trace::MemoryReadingTable& readings) {
  Nanoseconds first = INT64_MAX;
  for (size_t row = 0; row < readings.size(); ++row) {
    if (is_on_axis(readings, row)) first = std::min(first, readings.time[row]);
  }
  return first;
}

void write_memory_track(const trace::MemoryReadingTable& readings, trace::DeviceId device,
                        TrackUuid parent, TraceFile& file) {
  std::optional<Sequence> sequence;
  for (size_t row = 0; row < readings.size(); ++row) {
    if (readings.device[row] != device || !is_on_axis(readings, row)) continue;
    if (!sequence)
      sequence.emplace(file.sequence(file.counter(parent, "GPU memory in use", "byte")));
    sequence->counter(readings.time[row],
                      static_cast<double>(readings.used[row] + readings.reserved[row]));
  }
}

}  // namespace llmprof::exports
