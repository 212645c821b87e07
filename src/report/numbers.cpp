#include "report/numbers.h"

#include <fmt/format.h>

namespace llmprof {

std::string exact_ms(Nanoseconds time) {
  const auto magnitude = static_cast<uint64_t>(time < 0 ? -time : time);
  return fmt::format("{}{}.{:06}", time < 0 ? "-" : "", magnitude / 1000000, magnitude % 1000000);
}

std::string rounded_ms(double nanoseconds) { return fmt::format("{:.6f}", nanoseconds / 1e6); }

std::string percent(double fraction) { return fmt::format("{:.1f} %", fraction * 100); }

std::string grouped(uint64_t number) {
  std::string digits = std::to_string(number);
  for (size_t from_end = 3; from_end < digits.size(); from_end += 4) {
    digits.insert(digits.size() - from_end, 1, ',');
  }
  return digits;
}

std::string counted(uint64_t number, std::string_view one, std::string_view many) {
  if (number == 1) return fmt::format("1 {}", one);
  return many.empty() ? fmt::format("{} {}s", grouped(number), one)
                      : fmt::format("{} {}", grouped(number), many);
}

}  // namespace llmprof
