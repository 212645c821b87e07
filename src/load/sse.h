#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <utility>

namespace llmprof::load {

// Server-sent events, from bytes in pieces of any size: lines end by \n, \r or \r\n, comments are
// skipped, the data of several lines are joined by \n, an event without data is not reported, and
// neither is one that the end cuts off.
class SseParser {
 public:
  // Of one event; an empty `event` is the ordinary one ("message").
  using OnEvent = std::function<void(std::string_view event, std::string_view data)>;

  explicit SseParser(OnEvent on_event) : on_event_(std::move(on_event)) {}

  // Returns false once a line or an event is longer than `kMostBytes`: what follows is ignored.
  bool feed(std::string_view bytes);

  static constexpr size_t kMostBytes = 16UL << 20U;

 private:
  void end_line();
  void add_field(std::string_view name, std::string_view value);

  OnEvent on_event_;
  std::string line_;
  std::string event_;
  std::string data_;
  bool has_data_ = false;
  bool after_return_ = false;  // a \n that follows a \r ends no other line
  bool at_begin_ = true;       // a byte order mark may follow
  bool is_too_long_ = false;
};

}  // namespace llmprof::load
