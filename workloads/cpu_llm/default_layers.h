#pragma once

#include <cstddef>
#include <optional>

namespace cpu_llm {

// As many layers of the default shape as make its weights four times the last-level cache (bytes;
// none: unknown), or as half of the memory holds; 8 at least.
size_t default_layers(std::optional<size_t> cache_bytes, size_t memory_bytes);

}  // namespace cpu_llm
