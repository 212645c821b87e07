#pragma once

#include <cstddef>

namespace llmprof {

// Memory that this process may use: the machine's, or less if its control group limits it. 0:
// unknown.
size_t usable_memory_bytes();

}  // namespace llmprof
