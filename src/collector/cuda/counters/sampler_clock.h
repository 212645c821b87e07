#pragma once

#include <cstddef>
#include <cstdint>

// From the clock that samples are on to the log's. CUPTI gives them on the clock of
// cuptiActivityRegisterTimestampCallback, the log's own, if that was registered, and does not say
// which otherwise: the clocks it may be are tried on the samples.
namespace llmprof::collector {

// When samples must have ended, on the log's clock: not before, not after.
struct SampleWindow {
  int64_t earliest = 0;
  int64_t latest = 0;
};

class SamplerClock {
 public:
  // Finds the clock on which a sample with this end lies in the window; false where none does.
  bool find(uint64_t sample_end, SampleWindow window);
  [[nodiscard]] int64_t to_log(uint64_t sample_time) const {
    return static_cast<int64_t>(sample_time) + offset_;
  }

 private:
  size_t clock_ = 0;  // that served last
  int64_t offset_ = 0;
};

}  // namespace llmprof::collector
