#pragma once

#include <cstdint>

// libcupti, found at run time: LLMPROF_CUPTI if set, and no other; else the one that the process
// has already loaded, then CUDA_HOME, the loader's path, /usr/local/cuda, and
// LLMPROF_CUPTI_FALLBACK.
namespace llmprof::collector {

// False if there is none, or it lacks a function that the collector needs.
bool load_cupti();

[[nodiscard]] const char* cupti_path();              // empty before load_cupti
[[nodiscard]] uint32_t cupti_version();              // as cuptiGetVersion says
[[nodiscard]] void* cupti_symbol(const char* name);  // null if this version does not have it

}  // namespace llmprof::collector
