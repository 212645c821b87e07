#pragma once

#include <cstdint>
#include <string_view>

#include "base/element_type.h"

namespace llmprof::readers {

// Types spelled as in PyTorch or C++: "BFloat16", "c10::BFloat16", "long int". `unknown` for any
// other text.
ElementType named_element_type(std::string_view text);

// A number of PyTorch's ScalarType: 15 is bf16. `unknown` for any other.
ElementType numbered_element_type(uint64_t scalar_type);

}  // namespace llmprof::readers
