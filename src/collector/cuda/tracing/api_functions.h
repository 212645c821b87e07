#pragma once

#include <cupti.h>

#include <cstdint>
#include <cstring>

#include "collector/cuda/cupti/cupti_library.h"

// What a CUDA function does, by its name without the prefix "cu" (driver) or "cuda" (runtime).
// Versions differ only in the suffix.
namespace llmprof::collector {

inline constexpr uint32_t kMaxFunctions = 2048;

inline bool starts_with(const char* text, const char* start) {
  return std::strncmp(text, start, std::strlen(start)) == 0;
}

inline const char* bare_name(const char* name) {
  if (starts_with(name, "cuda")) return name + std::strlen("cuda");
  return starts_with(name, "cu") ? name + std::strlen("cu") : name;
}

inline bool is_launch(const char* bare) {
  return starts_with(bare, "Launch") && !starts_with(bare, "LaunchHostFunc");
}

inline bool launches_graph(const char* bare) { return starts_with(bare, "GraphLaunch"); }

inline bool synchronizes(const char* bare) { return std::strstr(bare, "Synchronize") != nullptr; }

// Calls that enqueue work on a GPU or wait for it.
inline bool is_of_interest(const char* bare) {
  return is_launch(bare) || launches_graph(bare) || starts_with(bare, "Memcpy") ||
         starts_with(bare, "Memset") || synchronizes(bare);
}

// Calls that wait for the GPU.
inline bool waits(const char* bare) {
  return synchronizes(bare) ||
         (starts_with(bare, "Memcpy") && std::strstr(bare, "Async") == nullptr);
}

// Allocates from the driver, not from a pool, which a program may use at every step.
inline bool takes_memory(const char* bare) {
  return starts_with(bare, "MemCreate") ||
         (starts_with(bare, "MemAlloc") && !starts_with(bare, "MemAllocHost") &&
          !starts_with(bare, "MemAllocAsync") && !starts_with(bare, "MemAllocFromPool"));
}

// Calls use(id, bare name) for every function of the API that this CUPTI knows.
template <class Use>
void for_each_function(CUpti_CallbackDomain domain, const Use& use) {
  for (uint32_t id = 1; id < kMaxFunctions; ++id) {
    const char* name = nullptr;
    if (cupti().callback_name(domain, id, &name) == CUPTI_SUCCESS && name != nullptr) {
      use(id, bare_name(name));
    }
  }
}

}  // namespace llmprof::collector
