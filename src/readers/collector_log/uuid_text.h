#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <span>
#include <string>

namespace llmprof::readers::collector_log {

// As nsys and Linux write it: 3d79c6fb-8838-e918-5193-3fe6bfedd8a7.
inline std::string uuid_text(std::span<const uint8_t, 16> uuid) {
  std::string text;
  for (size_t i = 0; i < uuid.size(); ++i) {
    const bool begins_group = i == 4 || i == 6 || i == 8 || i == 10;
    text += fmt::format("{}{:02x}", begins_group ? "-" : "", uuid[i]);
  }
  return text;
}

}  // namespace llmprof::readers::collector_log
