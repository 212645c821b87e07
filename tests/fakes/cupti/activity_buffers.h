#pragma once

#include <cupti.h>

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <vector>

// The subscriber's buffers: requested, filled with records of work that has ended, and handed back
// when full (by CUPTI's own thread), on a flush (by the flushing thread) or after the flush period.
namespace llmprof::fake {

class ActivityBuffers {
 public:
  void use(CUpti_BuffersCallbackRequestFunc requested, CUpti_BuffersCallbackCompleteFunc completed);
  // Records still in buffers are lost: cuptiFinalize does not flush.
  void forget();
  void set_flush_period(uint32_t milliseconds);

  // `record` has the layout that this version delivers; the work ends at `end`, on the clock of
  // `now`.
  void add(const void* record, size_t bytes, int64_t end, int64_t now);
  // Returns when the subscriber has received all work that has ended by now; with `forced`, also
  // the rest, without its times.
  void flush(int64_t now, bool forced);

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

  void take_ended(std::unique_lock<std::mutex>& lock, int64_t now);
  void put(std::unique_lock<std::mutex>& lock, const std::string& record);
  void write_all_lost();
  bool make_room(std::unique_lock<std::mutex>& lock, size_t bytes);
  void retire_current();
  void hand_back(std::unique_lock<std::mutex>& lock);
  [[noreturn]] void work();

  std::mutex mutex_;
  std::condition_variable changed_;
  CUpti_BuffersCallbackRequestFunc requested_ = nullptr;
  CUpti_BuffersCallbackCompleteFunc completed_ = nullptr;
  std::multimap<int64_t, std::string> running_;  // records by the end of their work
  Buffer current_;
  std::vector<Buffer> spare_;
  std::vector<Buffer> full_;
  size_t being_handed_back_ = 0;
  uint32_t flush_period_ms_ = 0;
  bool has_worker_ = false;
  std::atomic<size_t> dropped_{0};
};

}  // namespace llmprof::fake
