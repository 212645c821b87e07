#include "collector/cuda/counters/sampler_clock.h"

#include <cupti.h>

#include <iterator>

#include "collector/clock.h"
#include "collector/cuda/cupti/cupti_library.h"

namespace llmprof::collector {
namespace {

// CUPTI corrects the GPU's clock from time to time, and a sample may seem to end in the future.
constexpr int64_t kTolerance = 2'000'000;
// Two clocks are read one after the other; smaller changes of their offset are measurement noise.
constexpr int64_t kNoise = 10'000;

int64_t log_clock() { return now_ns(); }
int64_t unix_clock() { return read_clock(CLOCK_REALTIME); }
int64_t raw_clock() { return read_clock(CLOCK_MONOTONIC_RAW); }
int64_t boot_clock() { return read_clock(CLOCK_BOOTTIME); }
int64_t cupti_clock() {
  auto* read = reinterpret_cast<decltype(cuptiGetTimestamp)*>(cupti_symbol("cuptiGetTimestamp"));
  uint64_t now = 0;
  return read != nullptr && read(&now) == CUPTI_SUCCESS ? static_cast<int64_t>(now) : 0;
}

constexpr int64_t (*kClocks[])() = {log_clock, cupti_clock, unix_clock, raw_clock, boot_clock};

int64_t offset_of(size_t clock) {
  const int64_t before = now_ns();
  const int64_t there = kClocks[clock]();
  const int64_t after = now_ns();
  return clock == 0 ? 0 : before + (after - before) / 2 - there;
}

bool is_small(int64_t change) { return change < kNoise && change > -kNoise; }

}  // namespace

bool SamplerClock::find(uint64_t sample_end, SampleWindow window) {
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

}  // namespace llmprof::collector
