#pragma once

#include <cupti.h>

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <vector>

// The subscriber's buffers: asked for, filled with records, and handed back full (by a thread of
// CUPTI's own), on a flush (by whoever flushes) or after the flush period.
namespace llmprof::fake {

class ActivityBuffers {
 public:
  void use(CUpti_BuffersCallbackRequestFunc requested, CUpti_BuffersCallbackCompleteFunc completed);
  // What is in buffers then is lost: cuptiFinalize does not flush.
  void forget();
  void set_flush_period(uint32_t milliseconds);

  // `record` is in the layout that this version delivers.
  void add(const void* record, size_t bytes);
  // Returns when the subscriber has had all that was added before.
  void flush();

  // Records lost since the last call.
  size_t take_dropped() { return dropped_.exchange(0); }
  void drop(size_t records) { dropped_ += records; }

 private:
  struct Buffer {
    uint8_t* bytes = nullptr;
    size_t size = 0;
    size_t used = 0;
    size_t records = 0;
    size_t most_records = 0;  // 0: as many as fit

    [[nodiscard]] bool has_room(size_t more) const {
      return bytes != nullptr && used + more <= size &&
             (most_records == 0 || records < most_records);
    }
  };

  bool make_room(std::unique_lock<std::mutex>& lock, size_t bytes);
  void retire_current();
  void hand_back(std::unique_lock<std::mutex>& lock);
  [[noreturn]] void work();

  std::mutex mutex_;
  std::condition_variable changed_;
  CUpti_BuffersCallbackRequestFunc requested_ = nullptr;
  CUpti_BuffersCallbackCompleteFunc completed_ = nullptr;
  Buffer current_;
  std::vector<Buffer> spare_;
  std::vector<Buffer> full_;
  size_t being_handed_back_ = 0;
  uint32_t flush_period_ms_ = 0;
  bool has_worker_ = false;
  std::atomic<size_t> dropped_{0};
};

}  // namespace llmprof::fake
