#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace llmprof::collector {

// Numbers CUDA calls with 64 bits. CUPTI's 32-bit correlation IDs wrap around after half a day in a
// server that makes 100,000 calls per second, and restart from 1 after CUPTI was finalized (CUPTI
// 13.0). Any thread may call.
class CallNumbers {
 public:
  // For a call that is less than 2^31 calls away from the latest. The low 32 bits are the
  // correlation ID in the log, where it is unique.
  [[nodiscard]] uint64_t number_of(uint32_t correlation) const {
    return near(latest_.load(std::memory_order_relaxed), in_log(correlation));
  }

  // CUPTI was finalized: the next call may have a smaller ID than earlier ones.
  void may_start_over() { may_start_over_.store(true, std::memory_order_relaxed); }

  // Calls end in a different order than they start: a thread may wait long in an early one.
  void note(uint32_t correlation) { raise(latest_, number_of(correlation)); }

  // For a call that started after all noted ones, however many were made in between: calls are not
  // counted while nothing is recorded.
  void note_after_pause(uint32_t id) {
    const uint64_t latest = latest_.load(std::memory_order_relaxed);
    if (may_start_over_.exchange(false, std::memory_order_relaxed) && latest != kNone &&
        static_cast<int32_t>(in_log(id) - static_cast<uint32_t>(latest)) <= 0) {
      offset_.store(static_cast<uint32_t>(latest), std::memory_order_relaxed);
    }
    const uint32_t correlation = in_log(id);
    const uint32_t distance = correlation - static_cast<uint32_t>(latest);
    // If two threads call at the same time, the later call may arrive first.
    const bool just_before = latest != kNone && distance > UINT32_MAX - kHeardLate;
    raise(latest_, just_before ? near(latest, correlation) : latest + distance);
  }

  [[nodiscard]] uint64_t latest() const { return latest_.load(std::memory_order_relaxed); }

  static void raise(std::atomic<uint64_t>& highest, uint64_t number) {
    uint64_t before = highest.load(std::memory_order_relaxed);
    while (before < number &&
           !highest.compare_exchange_weak(before, number, std::memory_order_relaxed)) {
    }
  }

 private:
  static constexpr uint32_t kHeardLate = 1U << 16U;
  // Before the first call. Not 0: earlier calls may get smaller numbers.
  static constexpr uint64_t kNone = uint64_t{1} << 32U;

  static uint64_t near(uint64_t latest, uint32_t correlation) {
    const auto distance = static_cast<int32_t>(correlation - static_cast<uint32_t>(latest));
    return latest + static_cast<uint64_t>(static_cast<int64_t>(distance));
  }

  [[nodiscard]] uint32_t in_log(uint32_t correlation) const {
    return correlation + offset_.load(std::memory_order_relaxed);
  }

  std::atomic<uint64_t> latest_{kNone};
  std::atomic<uint32_t> offset_{0};  // what CUPTI had counted before it restarted
  std::atomic<bool> may_start_over_{false};
};

// The tracing windows, as numbers of CUDA calls (CallNumbers): kernels are recorded long after
// their launch, and those launched between windows are not kept. One thread at a time opens and
// closes; any thread may query.
class TracedWindows {
 public:
  // Starts after the call `after`.
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
  // Checks the last kKept windows.
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
