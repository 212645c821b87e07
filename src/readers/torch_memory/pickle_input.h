#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/needed.h"
#include "base/streams/byte_stream.h"

namespace llmprof::readers::torch_memory {

// The bytes of a pickle, in windows. Numbers are little-endian, except floating-point ones. Every
// failure is thrown with the offset in the (decompressed) content.
class PickleInput {
 public:
  explicit PickleInput(ByteStream& stream) : stream_(stream), buffer_(kWindowBytes) {}

  [[nodiscard]] uint64_t offset() const { return before_ + at_; }

  uint8_t byte() {
    if (at_ == end_) refill();
    return static_cast<uint8_t>(buffer_[at_++]);
  }
  // The 4-byte number after the next byte, if that is `expected` and the window has both.
  std::optional<uint32_t> number_after(uint8_t expected) {
    uint32_t value = 0;
    const bool follows =
        end_ - at_ > sizeof(value) && static_cast<uint8_t>(buffer_[at_]) == expected;
    if (!follows) return std::nullopt;
    std::memcpy(&value, buffer_.data() + at_ + 1, sizeof(value));
    at_ += 1 + sizeof(value);
    return value;
  }
  // An unsigned number of `bytes` bytes, 1 to 8.
  uint64_t number(size_t bytes) {
    uint64_t value = 0;
    if (end_ - at_ >= sizeof(value)) {
      static_assert(std::endian::native == std::endian::little);
      std::memcpy(&value, buffer_.data() + at_, sizeof(value));
      at_ += bytes;
      return bytes == sizeof(value) ? value : value & ((uint64_t{1} << (8 * bytes)) - 1);
    }
    for (size_t i = 0; i < bytes; ++i) value |= uint64_t{byte()} << (8 * i);
    return value;
  }
  void skip(size_t bytes) {
    for (size_t i = 0; i < bytes; ++i) byte();
  }
  // Valid until the next call.
  std::string_view text(size_t bytes) {
    if (end_ - at_ >= bytes) {
      const std::string_view text(buffer_.data() + at_, bytes);
      at_ += bytes;
      return text;
    }
    long_text_.clear();
    while (long_text_.size() < bytes) {
      if (at_ == end_) refill();
      const size_t taken = std::min(bytes - long_text_.size(), end_ - at_);
      long_text_.append(buffer_.data() + at_, taken);
      at_ += taken;
    }
    return long_text_;
  }

  [[noreturn]] void refuse(uint64_t offset, const std::string& why) const;

 private:
  static constexpr size_t kWindowBytes = 1UL << 20U;

  void refill();

  ByteStream& stream_;
  std::vector<char> buffer_;
  std::string long_text_;
  uint64_t before_ = 0;  // bytes of earlier windows
  size_t at_ = 0;
  size_t end_ = 0;
};

}  // namespace llmprof::readers::torch_memory
