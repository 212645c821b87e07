#include "load/sse.h"

namespace llmprof::load {

bool SseParser::feed(std::string_view bytes) {
  while (!bytes.empty() && !is_too_long_) {
    if (after_return_) {
      after_return_ = false;
      if (bytes.front() == '\n') {
        bytes.remove_prefix(1);
        continue;
      }
    }
    const size_t end = bytes.find_first_of("\r\n");
    line_.append(bytes.substr(0, end));
    is_too_long_ = line_.size() + data_.size() > kMostBytes;
    if (end == std::string_view::npos || is_too_long_) break;
    after_return_ = bytes[end] == '\r';
    bytes.remove_prefix(end + 1);
    end_line();
  }
  return !is_too_long_;
}

void SseParser::end_line() {
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  std::string_view line = line_;
  if (at_begin_ && line.starts_with(kByteOrderMark)) line.remove_prefix(kByteOrderMark.size());
  at_begin_ = false;
  if (line.empty()) {
    if (has_data_) on_event_(event_, data_);
    event_.clear();
    data_.clear();
    has_data_ = false;
  } else if (line.front() != ':') {
    const size_t colon = line.find(':');
    std::string_view value =
        colon == std::string_view::npos ? std::string_view() : line.substr(colon + 1);
    if (value.starts_with(' ')) value.remove_prefix(1);
    add_field(line.substr(0, colon), value);
  }
  line_.clear();
}

void SseParser::add_field(std::string_view name, std::string_view value) {
  if (name == "data") {
    if (has_data_) data_ += '\n';
    data_.append(value);
    has_data_ = true;
  } else if (name == "event") {
    event_ = value;
  }
}

}  // namespace llmprof::load
