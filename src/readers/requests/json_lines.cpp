#include "readers/requests/json_lines.h"

#include <algorithm>
#include <span>

#include "base/text.h"
#include "readers/requests/request_rows.h"
#include "readers/shared/python_json.h"

namespace llmprof::readers {
namespace {

constexpr size_t kLinesRead = 1UL << 20U;
constexpr size_t kMostLinesOfHead = 32;

}  // namespace

// Moves on to the next line; false at the end of the content.
Result<bool> JsonLines::find_line() {
  line_ = next_;
  size_t searched = line_;
  while (true) {
    const size_t feed = std::string_view(buffer_.data(), filled_).find('\n', searched);
    if (feed != std::string_view::npos) {
      line_end_ = feed;
      next_ = feed + 1;
      break;
    }
    if (ended_) {
      if (line_ == filled_) return false;
      line_end_ = next_ = filled_;
      break;
    }
    if (filled_ - line_ > kLargestRequestsFile) return fail_input("a line is longer than 2 GiB");
    buffer_.erase(0, line_);
    filled_ -= line_;
    line_ = 0;
    searched = filled_;
    const size_t wanted = std::max(kLinesRead, filled_);
    buffer_.resize(filled_ + wanted + simdjson::SIMDJSON_PADDING);
    auto got = stream_.read(std::span(buffer_).subspan(filled_, wanted));
    if (!got) return fail_with(got.error());
    filled_ += *got;
    ended_ = *got < wanted;
  }
  ++number_;
  return true;
}

Result<JsonLines::Line> JsonLines::next() {
  while (true) {
    auto found = find_line();
    if (!found) return fail_with(found.error());
    if (!*found) {
      cut_ = stream_.damage();
      return Line::end;
    }
    std::string_view line(buffer_.data() + line_, line_end_ - line_);
    if (number_ == 1) line = without_byte_order_mark(line);
    if (trim(line).empty()) continue;
    if (parse(line)) return Line::object;
    const bool is_last = ended_ && next_ == filled_ && line_end_ == filled_;
    if (!is_last) return Line::malformed;
    cut_ = stream_.damage();
    if (cut_.empty()) cut_ = "its last line ends within an object";
    return Line::end;
  }
}

bool JsonLines::parse(std::string_view line) {
  constexpr bool kCopy = false;  // the bytes after the line can be read
  if (parser_.parse(line.data(), line.size(), kCopy).get(object_) == simdjson::SUCCESS) return true;
  uint64_t non_finite = 0;
  const std::string plain = as_plain_json(line, non_finite);
  if (non_finite == 0 || parser_.parse(plain).get(object_) != simdjson::SUCCESS) return false;
  non_finite_ += non_finite;
  return true;
}

bool any_line(std::string_view head, const std::function<bool(std::string_view line)>& fits) {
  head = without_byte_order_mark(head);
  for (size_t i = 0; i < kMostLinesOfHead && !head.empty(); ++i) {
    const size_t end = std::min(head.find('\n'), head.size());
    const std::string_view line = trim(head.substr(0, end));
    if (line.starts_with('{') && fits(line)) return true;
    head.remove_prefix(std::min(end + 1, head.size()));
  }
  return false;
}

}  // namespace llmprof::readers
