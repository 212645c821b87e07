#include "job/partial/columns.h"

namespace llmprof::job {

void ColumnWriter::count(uint64_t number) {
  char bytes[kLongestVarint];
  out_.append(bytes, put_varint(bytes, number));
}

void ColumnWriter::text(std::string_view text) {
  count(text.size());
  out_ += text;
}

uint64_t ColumnReader::count() {
  if (const auto number = take_varint(rest_)) return damaged_ ? 0 : *number;
  damaged_ = true;
  rest_ = {};
  return 0;
}

std::string_view ColumnReader::text() {
  const uint64_t size = count();
  if (size > rest_.size()) {
    damaged_ = true;
    rest_ = {};
    return {};
  }
  const std::string_view text = rest_.substr(0, size);
  rest_.remove_prefix(size);
  return text;
}

}  // namespace llmprof::job
