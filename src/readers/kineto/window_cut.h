#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace llmprof::readers {

// State of a walk over an event's text. Only braces count: in valid JSON the brackets inside them
// are balanced.
struct EventDepth {
  uint32_t depth = 0;
  bool in_string = false;
  bool escaped = false;  // the next character is taken literally
};

// Walks from `from` until the event closes (depth 0) or the text ends; returns the position after
// the last character visited. Braces inside strings are ignored.
size_t walk_event(std::string_view text, size_t from, EventDepth& state);

// The next position from `from` on that can only be the start of an event: '{' and one of the keys
// that events start with. Inside a string the quote of that key could not follow. npos if none.
size_t find_event_start(std::string_view text, size_t from);

// No real event comes near this size. A longer one has a broken string or a missing brace, and
// everything after it would seem to belong to it.
inline constexpr size_t kLargestEvent = 8UL << 20U;

// Follows an event array through the content, piece by piece, and finds where its events end.
class KinetoEventScan {
 public:
  // Looks at the next bytes and returns how many belong to the array. If fewer than given, the next
  // one is the array's closing bracket.
  size_t scan(std::string_view bytes);

  [[nodiscard]] bool closed() const { return closed_; }
  // Both count from the start of the array.
  [[nodiscard]] uint64_t position() const { return position_; }
  [[nodiscard]] uint64_t last_event_end() const { return last_end_; }

 private:
  uint64_t position_ = 0;
  uint64_t last_end_ = 0;
  EventDepth event_;
  bool lost_ = false;  // inside something too large for an event: looks for the next start
  bool closed_ = false;
};

}  // namespace llmprof::readers
