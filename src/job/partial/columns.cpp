#include "job/partial/columns.h"

namespace llmprof::job {
namespace {

constexpr unsigned kBitsPerByte = 7;
constexpr unsigned kBits = 64;
constexpr uint64_t kMore = 1U << kBitsPerByte;

}  // namespace

void ColumnWriter::count(uint64_t number) {
  while (number >= kMore) {
    out_ += static_cast<char>((number & (kMore - 1)) | kMore);
    number >>= kBitsPerByte;
  }
  out_ += static_cast<char>(number);
}

void ColumnWriter::difference(uint64_t to, uint64_t from) {
  const uint64_t apart = to - from;
  count((apart << 1U) ^ (0 - (apart >> (kBits - 1))));
}

void ColumnWriter::text(std::string_view text) {
  count(text.size());
  out_ += text;
}

uint64_t ColumnReader::count() {
  uint64_t number = 0;
  for (unsigned shift = 0; shift < kBits; shift += kBitsPerByte) {
    if (rest_.empty()) break;
    const auto byte = static_cast<unsigned char>(rest_.front());
    rest_.remove_prefix(1);
    number |= (byte & (kMore - 1)) << shift;
    if (byte < kMore) return damaged_ ? 0 : number;
  }
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
