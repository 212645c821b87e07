#pragma once

#include <cstddef>
#include <cstdint>

// Converts sample times to the log's clock. CUPTI uses the clock that was registered with
// cuptiActivityRegisterTimestampCallback, the log's own; without one it does not document which,
// and the candidates are tried on the samples.
namespace llmprof::collector {

// The interval in which samples must have ended, on the log's clock.
struct SampleWindow {
  int64_t earliest = 0;
  int64_t latest = 0;
};

class SamplerClock {
 public:
  // Finds the clock on which a sample with this end lies in the window; false if none does.
  bool find(uint64_t sample_end, SampleWindow window);
  [[nodiscard]] int64_t to_log(uint64_t sample_time) const {
    return static_cast<int64_t>(sample_time) + offset_;
  }

 private:
  size_t clock_ = 0;  // the one found last
  int64_t offset_ = 0;
};

}  // namespace llmprof::collector
