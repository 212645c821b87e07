#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace llmprof::collector {

// The times of tracing, as correlations of CUDA calls, which count up: kernels come long after
// their launch, and those that were launched in between are not for the log. One thread at a time
// opens and closes; any asks.
class TracedWindows {
 public:
  // Behind the call `after`, until it is closed.
  void open(uint32_t after) {
    const uint64_t number = opened_.load(std::memory_order_relaxed);
    windows_[number % kKept].store(packed(after, kOpen), std::memory_order_relaxed);
    opened_.store(number + 1, std::memory_order_release);
  }
  // With the call `last`.
  void close(uint32_t last) {
    const uint64_t number = opened_.load(std::memory_order_relaxed);
    if (number == 0) return;
    std::atomic<uint64_t>& window = windows_[(number - 1) % kKept];
    const uint64_t now = window.load(std::memory_order_relaxed);
    if (last_of(now) == kOpen) {
      window.store(packed(after_of(now), last), std::memory_order_relaxed);
    }
  }
  // Of the last kKept windows.
  [[nodiscard]] bool hold(uint32_t correlation) const {
    const uint64_t opened = opened_.load(std::memory_order_acquire);
    for (uint64_t back = 1; back <= kKept && back <= opened; ++back) {
      const uint64_t window = windows_[(opened - back) % kKept].load(std::memory_order_relaxed);
      if (correlation > last_of(window)) return false;
      if (correlation > after_of(window)) return true;
    }
    return false;
  }

 private:
  static constexpr size_t kKept = 64;
  static constexpr uint32_t kOpen = UINT32_MAX;
  static constexpr unsigned kHalf = 32;

  static uint64_t packed(uint32_t after, uint32_t last) {
    return (uint64_t{after} << kHalf) | last;
  }
  static uint32_t after_of(uint64_t window) { return static_cast<uint32_t>(window >> kHalf); }
  static uint32_t last_of(uint64_t window) { return static_cast<uint32_t>(window); }

  std::atomic<uint64_t> windows_[kKept] = {};
  std::atomic<uint64_t> opened_{0};
};

}  // namespace llmprof::collector
