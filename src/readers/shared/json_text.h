#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>

#if defined(__aarch64__)
#include <arm_neon.h>
#elif defined(__SSE2__)
#include <emmintrin.h>
#endif

#include "base/json_string.h"

// The structure of JSON text that may be cut off, damaged or larger than memory.
namespace llmprof::readers {

// The text around the array of a JSON object: the top-level keys before and after it. Takes the
// content piece by piece, keeps the values of a few keys and drops the rest (a trace may hold
// environments, paths and logs). Lenient: anything that is not JSON is skipped.
class JsonEnvelope {
 public:
  explicit JsonEnvelope(std::string_view array_key = {},
                        std::span<const std::string_view> kept_keys = {})
      : array_key_(array_key), kept_keys_(kept_keys) {}

  // Looks at the next bytes; returns how many it took: all, or those up to and including the
  // opening bracket of the array (`in_array`).
  size_t take(std::string_view bytes);

  [[nodiscard]] bool in_array() const { return in_array_; }
  // The closing bracket has been passed; `take` continues after it.
  void leave_array() { in_array_ = false; }

  // The content is one array with nothing around it.
  [[nodiscard]] bool bare_array() const { return bare_array_; }
  // The outermost object or array was closed.
  [[nodiscard]] bool complete() const { return started_ && depth_ == 0; }
  // There was text where only an object, an array or nothing is allowed.
  [[nodiscard]] bool has_stray_text() const { return stray_text_; }
  // Values of kept keys that were dropped because they were too long.
  [[nodiscard]] uint64_t oversized_values() const { return oversized_; }

  // Names of the top-level keys met so far (a limited number).
  [[nodiscard]] bool has_key(std::string_view key) const { return keys_.contains(key); }
  // The JSON text of a kept key's value, empty if there is none; of several values, the last.
  [[nodiscard]] std::string_view value(std::string_view key) const;

 private:
  void take_structure(char c);
  void finish_key();
  void finish_value();

  std::string_view array_key_;
  std::span<const std::string_view> kept_keys_;
  uint64_t depth_ = 0;
  bool started_ = false;
  JsonString string_;
  bool in_value_ = false;
  bool in_array_ = false;
  bool bare_array_ = false;
  bool stray_text_ = false;
  bool keeping_ = false;
  uint64_t oversized_ = 0;
  std::string key_;
  std::string text_;
  std::set<std::string, std::less<>> keys_;
  std::map<std::string, std::string, std::less<>> values_;
};

// State of a walk over an object's text. Only braces count: in valid JSON the brackets inside them
// are balanced.
struct ObjectDepth {
  uint32_t depth = 0;
  bool in_string = false;
  bool escaped = false;  // the next character is taken literally
};

// Walks from `from` until the object closes (depth 0) or the text ends; returns the position after
// the last character visited. Braces inside strings are ignored.
size_t walk_object(std::string_view text, size_t from, ObjectDepth& state);

inline constexpr size_t kMaskedBytes = 64;

// Positions in 64 bytes of the characters needed to find an object's end; bit i is byte i.
struct ByteMasks {
  uint64_t quote = 0;
  uint64_t backslash = 0;
  uint64_t open = 0;   // {
  uint64_t close = 0;  // }

  friend bool operator==(const ByteMasks&, const ByteMasks&) = default;
};

// One byte at a time: the reference for the vector versions, and the fallback without them.
inline ByteMasks byte_masks_portable(const char* bytes) {
  ByteMasks masks;
  for (size_t i = 0; i < kMaskedBytes; ++i) {
    const uint64_t bit = uint64_t{1} << i;
    if (bytes[i] == '"') masks.quote |= bit;
    if (bytes[i] == '\\') masks.backslash |= bit;
    if (bytes[i] == '{') masks.open |= bit;
    if (bytes[i] == '}') masks.close |= bit;
  }
  return masks;
}

#if defined(__aarch64__)

inline ByteMasks byte_masks(const char* bytes) {
  const auto* data = reinterpret_cast<const uint8_t*>(bytes);
  const uint8x16_t block[4] = {vld1q_u8(data), vld1q_u8(data + 16), vld1q_u8(data + 32),
                               vld1q_u8(data + 48)};
  // One bit per lane; then neighbors are added until eight lanes form one byte.
  constexpr uint8_t kBits[16] = {1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128};
  const uint8x16_t bits = vld1q_u8(kBits);
  const auto mask_of = [&](char character) {
    const uint8x16_t wanted = vdupq_n_u8(static_cast<uint8_t>(character));
    const auto lanes = [&](size_t i) { return vandq_u8(vceqq_u8(block[i], wanted), bits); };
    const uint8x16_t low = vpaddq_u8(lanes(0), lanes(1));
    const uint8x16_t high = vpaddq_u8(lanes(2), lanes(3));
    const uint8x16_t sums = vpaddq_u8(low, high);
    return vgetq_lane_u64(vreinterpretq_u64_u8(vpaddq_u8(sums, sums)), 0);
  };
  return {mask_of('"'), mask_of('\\'), mask_of('{'), mask_of('}')};
}

#elif defined(__SSE2__)

inline ByteMasks byte_masks(const char* bytes) {
  const auto* data = reinterpret_cast<const __m128i*>(bytes);
  const __m128i block[4] = {_mm_loadu_si128(data), _mm_loadu_si128(data + 1),
                            _mm_loadu_si128(data + 2), _mm_loadu_si128(data + 3)};
  const auto mask_of = [&](char character) {
    const __m128i wanted = _mm_set1_epi8(character);
    const auto lanes = [&](size_t i) {
      const int mask = _mm_movemask_epi8(_mm_cmpeq_epi8(block[i], wanted));
      return static_cast<uint64_t>(static_cast<uint32_t>(mask));
    };
    // No loop: g++ unrolls one only at -O3.
    return lanes(0) | lanes(1) << 16U | lanes(2) << 32U | lanes(3) << 48U;
  };
  return {mask_of('"'), mask_of('\\'), mask_of('{'), mask_of('}')};
}

#else

inline ByteMasks byte_masks(const char* bytes) { return byte_masks_portable(bytes); }

#endif

}  // namespace llmprof::readers
