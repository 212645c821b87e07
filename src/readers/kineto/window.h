#pragma once

#include <simdjson.h>

#include <span>
#include <string_view>

#include "readers/kineto/rows.h"

namespace llmprof::readers {

// One thread's part of reading a trace: turns a window of whole events into rows.
class KinetoWindow {
 public:
  // Needs kWindowMargin writable bytes before and after the window. The rows of the window before
  // are forgotten.
  void parse(std::span<char> window);

  [[nodiscard]] KinetoRows& rows() { return rows_; }

 private:
  bool parse_at_once(std::span<char> window);
  void parse_singly(std::span<char> window);
  // Whether the text was JSON, as it is or after repair.
  bool parse_event(std::span<char> event);
  // SIMDJSON_PADDING bytes follow, the first of them 0.
  simdjson::error_code parse_padded(std::span<const char> text);

  simdjson::ondemand::parser parser_;
  KinetoRows rows_;
};

}  // namespace llmprof::readers
