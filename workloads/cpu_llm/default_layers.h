#pragma once

#include <cstddef>
#include <optional>

namespace cpu_llm {

// The number of layers with which the weights of the default shape are four times the last-level
// cache (bytes; none: unknown), limited to half of the memory; at least 8.
size_t default_layers(std::optional<size_t> cache_bytes, size_t memory_bytes);

}  // namespace cpu_llm
