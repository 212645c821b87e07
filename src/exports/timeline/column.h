#pragma once

#include <array>
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

  // For that many rows more: what they do not fill is never touched, and takes no memory.
  void reserve(size_t rows) { bytes_.reserve(bytes_.size() + rows * 2 + pending_.size()); }

  void u(uint64_t value) {
    char* out = room();
    while (value >= kMore) {
      *out++ = static_cast<char>(value | kMore);
      value >>= 7U;
    }
    *out++ = static_cast<char>(value);
    used_ = static_cast<size_t>(out - pending_.data());
  }
  void s(int64_t value) {
    u(static_cast<uint64_t>(value) << 1U ^ static_cast<uint64_t>(value >> 63U));
  }
  void sdelta(int64_t value) {
    s(value - previous_);
    previous_ = value;
  }
  void u8(uint8_t value) {
    *room() = static_cast<char>(value);
    ++used_;
  }
  void f32(float value) {
    static_assert(std::endian::native == std::endian::little);
    std::memcpy(room(), &value, sizeof value);
    used_ += sizeof value;
  }

  [[nodiscard]] Coding coding() const { return coding_; }
  [[nodiscard]] std::string take() {
    put_pending();
    return std::move(bytes_);
  }

 private:
  static constexpr size_t kLongest = 10;  // bytes of a varint
  static constexpr uint64_t kMore = 0x80;

  // Where at least kLongest bytes fit.
  char* room() {
    if (used_ + kLongest > pending_.size()) put_pending();
    return pending_.data() + used_;
  }
  void put_pending() {
    bytes_.append(pending_.data(), used_);
    used_ = 0;
  }

  Coding coding_;
  std::string bytes_;
  std::array<char, 1024> pending_;  // not in bytes_ yet
  size_t used_ = 0;                 // of pending_
  int64_t previous_ = 0;
};

}  // namespace llmprof::exports
