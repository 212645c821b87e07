#include "collector/clock_domain.h"

#include <unistd.h>

#include <cstdlib>
#include <cstring>

#include "collector/small_file.h"

namespace llmprof::collector {
namespace {

// -1: no digit.
int hexadecimal(char digit) {
  constexpr int kTen = 10;
  if (digit >= '0' && digit <= '9') return digit - '0';
  return digit >= 'a' && digit <= 'f' ? digit - 'a' + kTen : -1;
}

}  // namespace

void read_boot_id(uint8_t (&id)[16]) {
  constexpr unsigned kBitsOfDigit = 4;
  constexpr size_t kDigits = 2 * sizeof id;
  std::memset(id, 0, sizeof id);
  char text[64];
  const size_t length = read_front("/proc/sys/kernel/random/boot_id", text, sizeof text);
  size_t digits = 0;
  for (size_t i = 0; i < length && digits < kDigits; ++i) {
    const int value = hexadecimal(text[i]);
    if (value < 0) continue;
    uint8_t& byte = id[digits++ / 2];
    byte = static_cast<uint8_t>((byte << kBitsOfDigit) | value);
  }
  if (digits < kDigits) std::memset(id, 0, sizeof id);
}

uint64_t time_namespace() {
  char name[64] = {};  // "time:[4026531834]"
  if (readlink("/proc/self/ns/time", name, sizeof name - 1) <= 0) return 0;
  const char* number = std::strchr(name, '[');
  return number == nullptr ? 0 : strtoull(number + 1, nullptr, 10);
}

}  // namespace llmprof::collector
