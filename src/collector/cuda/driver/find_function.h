#pragma once

#include <dlfcn.h>

namespace llmprof::collector {

// Null where the library has no such function.
template <class Function>
void find_function(void* library, const char* name, Function*& function) {
  function = reinterpret_cast<Function*>(dlsym(library, name));
}

}  // namespace llmprof::collector
