// Programs reach the driver by its exported functions, by dlsym, and by cuGetProcAddress, as every
// CUDA runtime does, linked statically or not. The preloaded library is asked first in all three.
#include "collector/cuda/allocations/driver_symbols.h"

#include <cuda.h>
#include <dlfcn.h>

#include <cstring>

#include "collector/environment.h"

namespace llmprof::collector {
namespace {

using Lookup = void* (*)(void*, const char*);

// glibc 2.34 moved dlsym from libdl to libc.
constexpr const char* kVersionsOfGlibc[] = {"GLIBC_2.34", "GLIBC_2.17", "GLIBC_2.2.5"};

constinit std::atomic<Lookup> loaders_lookup = nullptr;

Lookup find_lookup() {
  void* found = nullptr;
  for (const char* version : kVersionsOfGlibc) {
    if (found == nullptr) found = dlvsym(RTLD_NEXT, "dlsym", version);
  }
  auto* lookup = reinterpret_cast<Lookup>(found);
  loaders_lookup.store(lookup, std::memory_order_relaxed);
  return lookup;
}

Lookup lookup() {
  Lookup known = loaders_lookup.load(std::memory_order_relaxed);
  return known != nullptr ? known : find_lookup();
}

void* libcuda() { return dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL | RTLD_NOLOAD); }

bool is_of_driver(const char* name) {
  return name[0] == 'c' && name[1] == 'u' && name[2] >= 'A' && name[2] <= 'Z';
}

enum class Wish : uint8_t { unread, calls, others };
constinit std::atomic<Wish> wish = Wish::unread;

Wish read_memory_wish() {
  const bool calls = std::strcmp(variable("LLMPROF_MEMORY"), "calls") == 0 &&
                     value_of("LLMPROF_LOG_DIR") != nullptr;
  const Wish read = calls ? Wish::calls : Wish::others;
  wish.store(read, std::memory_order_relaxed);
  return read;
}

}  // namespace

void* find_symbol(void* library, const char* name) {
  const Lookup real = lookup();
  return real == nullptr ? nullptr : real(library, name);
}

void* DriverSymbol::look_up() {
  void* library = libcuda();
  if (library == nullptr) return nullptr;
  void* found = find_symbol(library, name_);
  found_.store(found, std::memory_order_release);
  missing_.store(found == nullptr, std::memory_order_relaxed);
  return found;
}

bool wants_driver_calls() {
  const Wish known = wish.load(std::memory_order_relaxed);
  return (known == Wish::unread ? read_memory_wish() : known) == Wish::calls;
}

}  // namespace llmprof::collector

// Calls in tail position become jumps. clang has no such attribute, and makes them when it
// optimizes.
#ifdef __clang__
#define LLMPROF_JUMPS
#else
#define LLMPROF_JUMPS [[gnu::optimize("optimize-sibling-calls")]]
#endif

// NOLINTBEGIN(readability-identifier-naming): the loader's name

// RTLD_NEXT and RTLD_DEFAULT mean the library that calls: such calls are passed on by a jump, which
// keeps the caller's address.
extern "C" LLMPROF_JUMPS [[gnu::visibility("default")]] void* dlsym(void* handle,
                                                                    const char* name) noexcept {
  using namespace llmprof::collector;
  if (handle == RTLD_NEXT || handle == RTLD_DEFAULT || !is_of_driver(name) ||
      !wants_driver_calls()) {
    return lookup()(handle, name);
  }
  void* found = find_symbol(handle, name);
  if (found == nullptr) return nullptr;
  found = in_front_of(found);
  dlerror();  // of functions that this driver lacks: the program's own lookup succeeded
  return found;
}
// NOLINTEND(readability-identifier-naming)
