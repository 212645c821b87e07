#pragma once

#include <cstdint>

namespace llmprof::collector {

// A library in this process, by its place in memory.
struct LoadedLibrary {
  const char* name = "";  // empty: the program itself
  uintptr_t begin = 0;
  uintptr_t end = 0;  // 0: no library contains the address
};

[[nodiscard]] LoadedLibrary library_at(const void* address);

}  // namespace llmprof::collector
