#include "base/base64.h"

#include <cstdint>

namespace llmprof {

void append_base64(std::string& out, std::string_view bytes) {
  static constexpr std::string_view kDigits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  constexpr uint32_t kSixBits = 0x3F;
  const auto byte = [&](size_t i) { return static_cast<uint32_t>(static_cast<uint8_t>(bytes[i])); };
  size_t at = out.size();
  out.resize(at + (bytes.size() + 2) / 3 * 4);
  const auto put = [&](uint32_t group, size_t digits) {
    for (size_t i = 0; i < 4; ++i) {
      const size_t shift = 18 - 6 * i;
      out[at++] = i < digits ? kDigits[group >> shift & kSixBits] : '=';
    }
  };
  size_t i = 0;
  for (; i + 3 <= bytes.size(); i += 3) {
    put(byte(i) << 16U | byte(i + 1) << 8U | byte(i + 2), 4);
  }
  if (bytes.size() - i == 1) put(byte(i) << 16U, 2);
  if (bytes.size() - i == 2) put(byte(i) << 16U | byte(i + 1) << 8U, 3);
}

}  // namespace llmprof
