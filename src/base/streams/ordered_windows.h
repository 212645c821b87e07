#pragma once

#include <algorithm>
#include <atomic>
#include <deque>
#include <exception>
#include <functional>
#include <semaphore>
#include <span>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/streams/byte_stream.h"

namespace llmprof {

// Threads for one input: one per core, up to the number that still helps.
inline unsigned worker_count() { return std::clamp(std::thread::hardware_concurrency(), 1U, 8U); }

// Slots for parse_in_windows: one more than cores, so that each core has a window while the calling
// thread reads the next one and merges the last.
inline unsigned window_slot_count() { return worker_count() + 1; }

// Returns how many bytes at the start of `buffer` are complete records; the rest is carried into
// the next window. The previous call has seen the bytes before `fresh` and found no further record
// end in them. 0 requests more bytes. At the end of the content, everything left is one last
// window.
using WindowCut = std::function<size_t(std::string_view buffer, size_t fresh)>;

// Bytes directly before and after its window that a parser may overwrite.
inline constexpr size_t kWindowMargin = 128;

namespace window_detail {

inline void make_room(std::vector<char>& buffer, size_t content) {
  buffer.resize(std::max(buffer.size(), content + 2 * kWindowMargin));
}

// Reads after the `filled` bytes until there are `target` bytes or the content ends; returns their
// number. The buffer grows with the content, so that a small file takes little memory.
inline Result<size_t> fill(ByteStream& stream, std::vector<char>& buffer, size_t filled,
                           size_t target) {
  constexpr size_t kFirstRead = 64UL << 10U;
  while (filled < target) {
    const size_t goal = std::min(target, std::max(kFirstRead, filled * 2));
    make_room(buffer, goal);
    auto got = stream.read(std::span(buffer).subspan(kWindowMargin + filled, goal - filled));
    if (!got) return got;
    filled += *got;
    if (filled < goal) break;
  }
  return filled;
}

// A thread that parses one window after another with the same slot. Starting a thread for each
// window would cost 10 % of the time.
template <class Slot>
class Worker {
 public:
  explicit Worker(Slot& slot) : slot_(slot) {}
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;
  ~Worker() {
    if (!thread_.joinable()) return;
    stopping_ = true;
    start_.release();
    thread_.join();
  }

  void begin(std::span<char> window) {
    window_ = window;
    parsing_ = true;
    if (!thread_.joinable()) thread_ = std::thread([this] { work(); });
    start_.release();
  }
  void parse_here(std::span<char> window) {
    slot_.parse(window);
    parsed_ = true;
  }
  // Waits for the current window; false if there was none since the last call.
  bool finish() {
    if (parsing_) {
      done_.acquire();
      parsing_ = false;
      parsed_ = true;
      if (failure_) std::rethrow_exception(failure_);
    }
    return std::exchange(parsed_, false);
  }

 private:
  void work() {
    for (start_.acquire(); !stopping_; start_.acquire()) {
      try {
        slot_.parse(window_);
      } catch (...) {
        failure_ = std::current_exception();
      }
      done_.release();
    }
  }

  Slot& slot_;
  std::thread thread_;
  std::counting_semaphore<2> start_{0};
  std::binary_semaphore done_{0};
  std::atomic<bool> stopping_{false};
  std::span<char> window_;
  std::exception_ptr failure_;
  bool parsing_ = false;
  bool parsed_ = false;
};

}  // namespace window_detail

// Reads a stream in windows of about `window_bytes` that end between records. Each slot parses one
// window (`slot.parse(std::span<char> window)`) in its own thread, all concurrently. The calling
// thread passes the slots to `merge` in the order of the content. Slots are reused, so their memory
// is allocated once. `merge` returns false to stop early. Memory: at most two windows per slot,
// unless a single record is longer.
template <class Slot, class Merge>
Result<void> parse_in_windows(ByteStream& stream, size_t window_bytes, const WindowCut& cut,
                              std::vector<Slot>& slots, Merge merge) {
  // Declared before the workers, which use them until they end, even if this returns early.
  std::vector<std::vector<char>> buffers(slots.size());
  std::deque<window_detail::Worker<Slot>> workers;
  for (Slot& slot : slots) workers.emplace_back(slot);

  std::vector<char> carried;
  bool ended = false;
  size_t turn = 0;
  const auto collect = [&] {
    return !workers[turn].finish() || static_cast<bool>(merge(slots[turn]));
  };
  for (; !ended; turn = (turn + 1) % slots.size()) {
    if (!collect()) return {};
    std::vector<char>& buffer = buffers[turn];
    size_t filled = carried.size();
    size_t fresh = filled;
    size_t whole = 0;
    size_t target = std::max(window_bytes, filled + window_bytes / 2);
    window_detail::make_room(buffer, filled);
    std::copy(carried.begin(), carried.end(), buffer.begin() + kWindowMargin);
    while (whole == 0 && !ended) {
      auto got = window_detail::fill(stream, buffer, filled, target);
      if (!got) return fail_with(got.error());
      ended = *got < target;
      filled = *got;
      const std::string_view content(buffer.data() + kWindowMargin, filled);
      whole = ended ? filled : cut(content, fresh);
      fresh = filled;
      target = filled * 2;
    }
    const auto window = std::span(buffer).subspan(kWindowMargin, whole);
    carried.assign(window.data() + whole, window.data() + filled);
    // The last window is parsed here: this thread would wait for it anyway.
    if (ended) {
      workers[turn].parse_here(window);
    } else {
      workers[turn].begin(window);
    }
  }
  for (size_t i = 0; i < slots.size(); ++i, turn = (turn + 1) % slots.size()) {
    if (!collect()) return {};
  }
  return {};
}

}  // namespace llmprof
