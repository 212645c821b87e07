#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace llmprof::exports {

// How the rows of a column become bytes; the page undoes it (docs/report-html.md).
enum class Coding : uint8_t {
  u,       // unsigned LEB128
  s,       // zigzag, then LEB128
  udelta,  // the difference to the row before (to 0 at first), as u
  sdelta,  // likewise, as s
  u8,      // bytes
  f32,     // little-endian
};
std::string_view to_string(Coding coding);

// The bytes of one column, appended row by row: tight, since this runs a dozen times per kernel.
class Column {
 public:
  explicit Column(Coding coding) : coding_(coding) {}

  // For that many rows more.
  void reserve(size_t rows) { grow(std::max(bytes_.size(), used_ + rows * 2 + kLongest)); }

  void u(uint64_t value) {
    if (used_ + kLongest > bytes_.size()) grow(bytes_.size() * 2 + 4096);
    char* out = bytes_.data() + used_;
    while (value >= kMore) {
      *out++ = static_cast<char>(value | kMore);
      value >>= 7U;
    }
    *out++ = static_cast<char>(value);
    used_ = static_cast<size_t>(out - bytes_.data());
  }
  void s(int64_t value) {
    u(static_cast<uint64_t>(value) << 1U ^ static_cast<uint64_t>(value >> 63U));
  }
  void sdelta(int64_t value) {
    s(value - previous_);
    previous_ = value;
  }
  void u8(uint8_t value) {
    if (used_ == bytes_.size()) grow(bytes_.size() * 2 + 4096);
    bytes_[used_++] = static_cast<char>(value);
  }
  void f32(float value) {
    static_assert(std::endian::native == std::endian::little);
    if (used_ + sizeof value > bytes_.size()) grow(bytes_.size() * 2 + 4096);
    std::memcpy(bytes_.data() + used_, &value, sizeof value);
    used_ += sizeof value;
  }

  [[nodiscard]] Coding coding() const { return coding_; }
  [[nodiscard]] std::string take() {
    bytes_.resize(used_);
    return std::move(bytes_);
  }

 private:
  static constexpr size_t kLongest = 10;  // bytes of a varint
  static constexpr uint64_t kMore = 0x80;

  void grow(size_t size) { bytes_.resize(size); }

  Coding coding_;
  std::string bytes_;
  size_t used_ = 0;
  int64_t previous_ = 0;
};

}  // namespace llmprof::exports
