#pragma once

#include <cstdint>
#include <span>

namespace llmprof::analysis {

// How many layers the kernels of one repeat are. Layers that take turns (two kinds, or a kernel
// more in every fourth) repeat only together: most of their kernels then occur several times in the
// repeat, at even distances.
uint32_t layers_in_repeat(std::span<const uint32_t> repeat);

}  // namespace llmprof::analysis
