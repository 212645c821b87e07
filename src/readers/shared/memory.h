#pragma once

#include <cstdint>
#include <string_view>

#include "trace/tables.h"

namespace llmprof::readers {

// nsys's number of a kind of memory (ENUM_CUDA_MEM_KIND).
trace::MemoryPlace nsys_memory_place(int64_t kind);

// As tools spell it: "Pageable", "Device Static".
trace::MemoryPlace named_memory_place(std::string_view name);

// CUpti_ActivityMemcpyKind, as nsys spells it: "Host-to-Device". A kind that is not known is
// "Unknown".
std::string_view copy_direction(uint32_t kind);

}  // namespace llmprof::readers
