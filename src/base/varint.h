#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace llmprof {

// Whole numbers in as many bytes as they need: seven bits per byte, lowest first (LEB128). Used by
// partial profiles, the page's timeline and protobuf.
inline constexpr size_t kLongestVarint = 10;    // bytes for 64 bits
inline constexpr uint64_t kVarintLimit = 0x80;  // smaller values take one byte

// Writes at most kLongestVarint bytes and returns their end.
inline char* put_varint(char* out, uint64_t value) {
  for (; value >= kVarintLimit; value >>= 7U) *out++ = static_cast<char>(value | kVarintLimit);
  *out++ = static_cast<char>(value);
  return out;
}

// Removes one number from the front; none if the bytes end within it, or it has more than 64 bits.
inline std::optional<uint64_t> take_varint(std::string_view& bytes) {
  uint64_t value = 0;
  for (unsigned shift = 0; shift < 7 * kLongestVarint && !bytes.empty(); shift += 7) {
    const auto byte = static_cast<unsigned char>(bytes.front());
    bytes.remove_prefix(1);
    value |= (byte & (kVarintLimit - 1)) << shift;
    if (byte < kVarintLimit) return value;
  }
  return std::nullopt;
}

// For signed numbers and differences that wrap around: small ones of either sign become small.
constexpr uint64_t zigzag(uint64_t value) { return (value << 1U) ^ (0 - (value >> 63U)); }
constexpr uint64_t from_zigzag(uint64_t value) { return (value >> 1U) ^ (0 - (value & 1U)); }

}  // namespace llmprof
