#pragma once

#include <simdjson.h>

#include <algorithm>
#include <span>
#include <string>
#include <utility>

#include "base/streams/ordered_windows.h"
#include "base/text.h"
#include "readers/kineto/array_stream.h"
#include "readers/kineto/event.h"

namespace llmprof::readers {

static_assert(kWindowMargin > simdjson::SIMDJSON_PADDING);

// One thread's part of reading a trace: turns a window of complete events into rows.
class KinetoWindow {
 public:
  // Needs kWindowMargin writable bytes before and after the window. Drops the rows of the previous
  // window.
  void parse(std::span<char> window) {
    rows_.clear();
    if (parse_at_once(window)) return;
    // One bad byte spoils the entire window: its events are parsed one by one.
    rows_.clear();
    parse_singly(window);
  }

  [[nodiscard]] KinetoRows& rows() { return rows_; }

 private:
  static bool is_separator(char c) { return is_blank(c) || c == ','; }

  // Makes the window an array by writing brackets around it, the opening one over the comma that
  // separates it from the previous window.
  bool parse_at_once(std::span<char> window) {
    const auto first = std::find_if_not(window.begin(), window.end(), is_separator);
    const auto comma = std::find(window.begin(), first, ',');
    char* begin = window.data() + (comma == first ? -1 : comma - window.begin());
    char* end = window.data() + window.size();
    const char before = *begin;
    *begin = '[';
    *end++ = ']';
    *end = '\0';
    const auto length = static_cast<size_t>(end - begin);

    bool whole = false;
    simdjson::ondemand::document document;
    simdjson::ondemand::array events;
    if (parser_.iterate(begin, length, length + simdjson::SIMDJSON_PADDING).get(document) ==
            simdjson::SUCCESS &&
        document.get_array().get(events) == simdjson::SUCCESS) {
      whole = true;
      for (auto element : events) {
        simdjson::ondemand::object event;
        whole = element.get_object().get(event) == simdjson::SUCCESS &&
                read_kineto_event(event, end, rows_) == simdjson::SUCCESS;
        if (!whole) break;
      }
      // An array that closed early is followed by further events.
      const char* rest = nullptr;
      whole = whole && document.current_location().get(rest) == simdjson::OUT_OF_BOUNDS;
    }
    *begin = before;
    return whole;
  }

  void parse_singly(std::span<char> span) {
    const std::string_view window(span.data(), span.size());
    // After broken text, events are searched inside what seemed to be one event; the limit keeps
    // that linear in the window's size for any content.
    size_t searchable = 4 * window.size();
    size_t at = 0;
    while (at < window.size()) {
      const size_t start = std::min(window.find('{', at), window.size());
      if (!std::all_of(window.begin() + static_cast<std::ptrdiff_t>(at),
                       window.begin() + static_cast<std::ptrdiff_t>(start), is_separator)) {
        ++rows_.counts.bad;
      }
      if (start == window.size()) return;
      ObjectDepth depth;
      const size_t end = walk_object(window, start, depth);
      const bool closed = depth.depth == 0;
      at = end;
      if (closed && parse_event(span.subspan(start, end - start))) continue;
      const size_t next = find_event_start(window.substr(0, end), start + 1);
      if (next != std::string_view::npos && searchable >= end - start) {
        searchable -= end - start;
        at = next;
      }
      if (closed || at < window.size()) {
        ++rows_.counts.bad;
      } else {
        rows_.ends_within_event = true;
      }
    }
  }

  // Whether the text was JSON, unchanged or after repair.
  bool parse_event(std::span<char> event) {
    char& behind = *(event.data() + event.size());
    const char kept = std::exchange(behind, '\0');
    auto error = parse_padded(event);
    behind = kept;
    if (error == simdjson::UTF8_ERROR || error == simdjson::UNESCAPED_CHARS) {
      std::string repaired = to_printable({event.data(), event.size()});
      const size_t length = repaired.size();
      repaired.resize(length + simdjson::SIMDJSON_PADDING);
      error = parse_padded(std::span(repaired).first(length));
      if (error == simdjson::SUCCESS) ++rows_.counts.repaired;
    }
    return error == simdjson::SUCCESS;
  }

  // SIMDJSON_PADDING bytes must follow, the first of which is 0.
  simdjson::error_code parse_padded(std::span<const char> text) {
    simdjson::ondemand::document document;
    simdjson::ondemand::object event;
    const size_t capacity = text.size() + simdjson::SIMDJSON_PADDING;
    auto error = parser_.iterate(text.data(), text.size(), capacity).get(document);
    if (error == simdjson::SUCCESS) error = document.get_object().get(event);
    if (error != simdjson::SUCCESS) return error;
    return read_kineto_event(event, text.data() + text.size(), rows_);
  }

  simdjson::ondemand::parser parser_;
  KinetoRows rows_;
};

}  // namespace llmprof::readers
