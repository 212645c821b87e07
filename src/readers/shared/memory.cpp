#include "readers/shared/memory.h"

#include <array>
#include <utility>

namespace llmprof::readers {

using trace::MemoryPlace;

MemoryPlace nsys_memory_place(int64_t kind) {
  static constexpr std::array<MemoryPlace, 7> kPlaces = {
      MemoryPlace::pageable, MemoryPlace::pinned, MemoryPlace::device, MemoryPlace::array,
      MemoryPlace::managed,  MemoryPlace::device, MemoryPlace::managed};
  const bool known = kind >= 0 && std::cmp_less(kind, kPlaces.size());
  return known ? kPlaces[static_cast<size_t>(kind)] : MemoryPlace::unknown;
}

MemoryPlace named_memory_place(std::string_view name) {
  static constexpr std::pair<std::string_view, MemoryPlace> kNames[] = {
      {"Pageable", MemoryPlace::pageable},
      {"Pinned", MemoryPlace::pinned},
      {"Host", MemoryPlace::host},
      {"Device", MemoryPlace::device},
      {"Device Static", MemoryPlace::device},
      {"Array", MemoryPlace::array},
      {"Managed", MemoryPlace::managed},
      {"Managed Static", MemoryPlace::managed},
  };
  for (const auto& [spelling, place] : kNames) {
    if (name == spelling) return place;
  }
  return MemoryPlace::unknown;
}

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
