#pragma once

#include <cupti.h>

#include <cstddef>
#include <cstdint>
#include <iterator>

#include "collector/cuda/cupti/cupti_library.h"
#include "collector/environment.h"

namespace llmprof::collector {

// CUPTI corrects the GPU's clock from time to time, and a sample may seem to end in the future.
inline constexpr int64_t kTolerance = 2'000'000;
// Two clocks are read one after the other; smaller changes of their offset are measurement noise.
inline constexpr int64_t kNoise = 10'000;

inline int64_t log_clock() { return now_ns(); }
inline int64_t unix_clock() { return read_clock(CLOCK_REALTIME); }
inline int64_t raw_clock() { return read_clock(CLOCK_MONOTONIC_RAW); }
inline int64_t boot_clock() { return read_clock(CLOCK_BOOTTIME); }
inline int64_t cupti_clock() {
  auto* read = reinterpret_cast<decltype(cuptiGetTimestamp)*>(cupti_symbol("cuptiGetTimestamp"));
  uint64_t now = 0;
  return read != nullptr && read(&now) == CUPTI_SUCCESS ? static_cast<int64_t>(now) : 0;
}

inline constexpr int64_t (*kClocks[])() = {log_clock, cupti_clock, unix_clock, raw_clock,
                                           boot_clock};

inline int64_t offset_of(size_t clock) {
  const int64_t before = now_ns();
  const int64_t there = kClocks[clock]();
  const int64_t after = now_ns();
  return clock == 0 ? 0 : before + (after - before) / 2 - there;
}

inline bool is_small(int64_t change) { return change < kNoise && change > -kNoise; }

// The interval in which samples must have ended, on the log's clock.
struct SampleWindow {
  int64_t earliest = 0;
  int64_t latest = 0;
};

// Converts sample times to the log's clock. CUPTI uses the clock that was registered with
// cuptiActivityRegisterTimestampCallback, the log's own. Without one, its clock is undocumented,
// and the candidates are tried on the samples.
class SamplerClock {
 public:
  // Finds the clock on which a sample with this end lies in the window; false if none does.
  bool find(uint64_t sample_end, SampleWindow window) {
    for (size_t i = 0; i < std::size(kClocks); ++i) {
      const size_t clock = (clock_ + i) % std::size(kClocks);
      const int64_t offset = offset_of(clock);
      const int64_t end = static_cast<int64_t>(sample_end) + offset;
      if (end < window.earliest - kTolerance || end > window.latest + kTolerance) continue;
      if (clock != clock_ || !is_small(offset - offset_)) offset_ = offset;
      clock_ = clock;
      return true;
    }
    return false;
  }

  [[nodiscard]] int64_t to_log(uint64_t sample_time) const {
    return static_cast<int64_t>(sample_time) + offset_;
  }

 private:
  size_t clock_ = 0;  // the one found last
  int64_t offset_ = 0;
};

}  // namespace llmprof::collector
