#pragma once

#include <simdjson.h>

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/streams/byte_stream.h"

namespace llmprof::readers {

// Objects of a text with one JSON object per line, read in one pass. NaN and infinities, which
// Python writes, are read as null.
class JsonLines {
 public:
  explicit JsonLines(ByteStream& stream) : stream_(stream) {}

  enum class Line : uint8_t { object, malformed, end };
  // Reads the next line that is not blank.
  Result<Line> next();

  // Valid until the next call of `next`.
  [[nodiscard]] simdjson::dom::object object() const { return object_; }
  // Of the last line that was read, from 1.
  [[nodiscard]] uint64_t number() const { return number_; }
  // NaN and infinities so far.
  [[nodiscard]] uint64_t non_finite() const { return non_finite_; }
  // Why the content ended within its last line; empty if it did not.
  [[nodiscard]] const std::string& cut() const { return cut_; }

 private:
  Result<bool> find_line();
  bool parse(std::string_view line);

  ByteStream& stream_;
  simdjson::dom::parser parser_;
  simdjson::dom::object object_;
  std::string buffer_;  // followed by bytes that simdjson may read
  size_t filled_ = 0;
  size_t line_ = 0;      // where the current line begins
  size_t line_end_ = 0;  // its line feed, or the end of the content
  size_t next_ = 0;
  bool ended_ = false;
  uint64_t number_ = 0;
  uint64_t non_finite_ = 0;
  std::string cut_;
};

// Whether a line among the first ones begins an object that fits. The last line may be cut.
bool any_line(std::string_view head, const std::function<bool(std::string_view line)>& fits);

}  // namespace llmprof::readers
