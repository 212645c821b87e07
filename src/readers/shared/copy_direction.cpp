#include "readers/shared/copy_direction.h"

#include <array>

namespace llmprof::readers {

std::string_view copy_direction(uint32_t kind) {
  static constexpr std::array<std::string_view, 14> kNames = {"Unknown",
                                                              "Host-to-Device",
                                                              "Device-to-Host",
                                                              "Host-to-Array",
                                                              "Array-to-Host",
                                                              "Array-to-Array",
                                                              "Array-to-Device",
                                                              "Device-to-Array",
                                                              "Device-to-Device",
                                                              "Host-to-Host",
                                                              "Peer-to-Peer",
                                                              "Unified Host-to-Device",
                                                              "Unified Device-to-Host",
                                                              "Unified Device-to-Device"};
  return kNames[kind < kNames.size() ? kind : 0];
}

}  // namespace llmprof::readers
