#pragma once

#include <cstdint>
#include <string_view>

namespace llmprof::readers {

// CUpti_ActivityMemcpyKind, as nsys spells it: "Host-to-Device". A kind that is not known is
// "Unknown".
std::string_view copy_direction(uint32_t kind);

}  // namespace llmprof::readers
