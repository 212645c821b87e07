#pragma once

#include <algorithm>
#include <functional>
#include <future>
#include <span>
#include <string_view>
#include <thread>
#include <vector>

#include "base/byte_stream.h"
#include "base/error.h"

namespace llmprof {

// How many threads work on one input: all cores, but no more than pay off.
inline unsigned worker_count() { return std::clamp(std::thread::hardware_concurrency(), 1U, 8U); }

// Tells how many bytes at the front of `buffer` are whole records; the rest is carried into the
// next window. Bytes before `fresh` were seen by the call before, which found no further record end
// in them. 0 asks for more bytes. At the end of the content everything left is one last window.
using WindowCut = std::function<size_t(std::string_view buffer, size_t fresh)>;

// Room that a parser may scribble on directly before and behind its window.
inline constexpr size_t kWindowMargin = 128;

namespace window_detail {

inline void make_room(std::vector<char>& buffer, size_t content) {
  buffer.resize(std::max(buffer.size(), content + 2 * kWindowMargin));
}

// Reads behind the `filled` bytes until there are `target`, or the content ends; returns how many
// there are. The buffer grows with what comes, so that a small file costs little.
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

}  // namespace window_detail

// Reads a stream in windows of about `window_bytes` that end between records, lets each slot parse
// one (`slot.parse(std::span<char> window)`, one thread each, all at once), and hands the slots to
// `merge` on the calling thread in the order of the content. A slot is used again and again, so
// what it allocates is allocated once. `merge` returns false to stop early. Memory: two windows a
// slot at the most, unless a single record is longer.
template <class Slot, class Merge>
Result<void> parse_in_windows(ByteStream& stream, size_t window_bytes, const WindowCut& cut,
                              std::vector<Slot>& slots, Merge merge) {
  struct Lane {
    std::vector<char> buffer;
    std::future<void> work;
  };
  std::vector<Lane> lanes(slots.size());
  const auto collect = [&](size_t i) {
    if (!lanes[i].work.valid()) return true;
    lanes[i].work.get();
    return static_cast<bool>(merge(slots[i]));
  };

  std::vector<char> carried;
  bool ended = false;
  bool wanted = true;
  size_t turn = 0;
  for (; !ended && wanted; turn = (turn + 1) % lanes.size()) {
    Lane& lane = lanes[turn];
    wanted = collect(turn);
    if (!wanted) break;
    size_t filled = carried.size();
    size_t fresh = filled;
    size_t whole = 0;
    size_t target = std::max(window_bytes, filled + window_bytes / 2);
    window_detail::make_room(lane.buffer, filled);
    std::copy(carried.begin(), carried.end(), lane.buffer.begin() + kWindowMargin);
    while (whole == 0 && !ended) {
      auto got = window_detail::fill(stream, lane.buffer, filled, target);
      if (!got) return fail_with(got.error());
      ended = *got < target;
      filled = *got;
      const std::string_view content(lane.buffer.data() + kWindowMargin, filled);
      whole = ended ? filled : cut(content, fresh);
      fresh = filled;
      target = filled * 2;
    }
    const auto window = std::span(lane.buffer).subspan(kWindowMargin, whole);
    carried.assign(window.data() + whole, window.data() + filled);
    Slot& slot = slots[turn];
    // The last window needs no thread of its own: this one waits for it anyway.
    lane.work = std::async(ended ? std::launch::deferred : std::launch::async,
                           [&slot, window] { slot.parse(window); });
  }
  for (size_t i = 0; i < lanes.size(); ++i, turn = (turn + 1) % lanes.size()) {
    if (wanted) {
      wanted = collect(turn);
    } else if (lanes[turn].work.valid()) {
      lanes[turn].work.wait();
    }
  }
  return {};
}

}  // namespace llmprof
