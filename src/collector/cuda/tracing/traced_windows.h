#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace llmprof::collector {

// The windows of tracing, as numbers of CUDA calls (CallNumbers): kernels are recorded long after
// their launch, and those launched between windows are not kept. One thread at a time opens and
// closes; any thread may ask.
class TracedWindows {
 public:
  // Begins after the call `after`.
  void open(uint64_t after) {
    const uint64_t number = opened_.load(std::memory_order_relaxed);
    Window& window = windows_[number % kKept];
    window.after.store(after, std::memory_order_relaxed);
    window.last.store(kOpen, std::memory_order_relaxed);
    opened_.store(number + 1, std::memory_order_release);
  }
  // Ends with the call `last`.
  void close(uint64_t last) {
    const uint64_t number = opened_.load(std::memory_order_relaxed);
    if (number == 0) return;
    uint64_t open = kOpen;
    windows_[(number - 1) % kKept].last.compare_exchange_strong(open, last,
                                                                std::memory_order_relaxed);
  }
  // Of the last kKept windows.
  [[nodiscard]] bool hold(uint64_t call) const {
    const uint64_t opened = opened_.load(std::memory_order_acquire);
    for (uint64_t back = 1; back <= kKept && back <= opened; ++back) {
      const Window& window = windows_[(opened - back) % kKept];
      if (call > window.last.load(std::memory_order_relaxed)) return false;
      if (call > window.after.load(std::memory_order_relaxed)) return true;
    }
    return false;
  }

 private:
  static constexpr size_t kKept = 64;
  static constexpr uint64_t kOpen = UINT64_MAX;

  struct Window {
    std::atomic<uint64_t> after{0};
    std::atomic<uint64_t> last{0};
  };

  Window windows_[kKept] = {};
  std::atomic<uint64_t> opened_{0};
};

}  // namespace llmprof::collector
