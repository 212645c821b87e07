#pragma once

#include <cstdint>

// libcupti, found at run time: LLMPROF_CUPTI, that one or none; else what the process has loaded
// already, then CUDA_HOME, the loader's path, /usr/local/cuda, and LLMPROF_CUPTI_FALLBACK.
namespace llmprof::collector {

// False where there is none, or it lacks what the collector cannot do without.
bool load_cupti();

[[nodiscard]] const char* cupti_path();              // empty before load_cupti
[[nodiscard]] uint32_t cupti_version();              // as cuptiGetVersion says
[[nodiscard]] void* cupti_symbol(const char* name);  // null where this version has it not

}  // namespace llmprof::collector
