#include "collector/launches/real_function.h"

#include <dlfcn.h>
#include <link.h>

#include <cstdint>
#include <cstring>

namespace llmprof::collector {
namespace {

void* in_scope_of(const char* library, const char* name) {
  void* handle = dlopen(library, RTLD_LAZY | RTLD_NOLOAD);
  return handle == nullptr ? nullptr : dlsym(handle, name);
}

bool is_ours(const void* function) {
  static const int kInThisLibrary = 0;
  Dl_info theirs{};
  Dl_info own{};
  return dladdr(function, &theirs) != 0 && dladdr(&kInThisLibrary, &own) != 0 &&
         theirs.dli_fbase == own.dli_fbase;
}

struct Search {
  const char* name;
  void* found;
};

// A library that was loaded for itself alone is in nobody's scope.
int look_for_runtime(dl_phdr_info* library, size_t /*size*/, void* data) {
  auto& search = *static_cast<Search*>(data);
  if (std::strstr(library->dlpi_name, "libcudart.so") != nullptr) {
    search.found = in_scope_of(library->dlpi_name, search.name);
  }
  return search.found != nullptr ? 1 : 0;
}

}  // namespace

void* RealFunction::seen_from(const void* caller) {
  constexpr unsigned kAlignment = 2;
  const size_t first = reinterpret_cast<uintptr_t>(caller) >> kAlignment;
  for (size_t probe = 0; probe < kLongestProbe; ++probe) {
    Place& place = places_[(first + probe) % kPlaces];
    const void* known = place.caller.load(std::memory_order_acquire);
    if (known == caller) {
      void* function = place.function.load(std::memory_order_acquire);
      return function != nullptr ? function : find(caller);
    }
    if (known != nullptr) continue;
    void* function = find(caller);
    if (place.caller.compare_exchange_strong(known, caller, std::memory_order_acq_rel)) {
      place.function.store(function, std::memory_order_release);
    }
    return function;
  }
  return find(caller);
}

void* RealFunction::find(const void* caller) const {
  Dl_info info{};
  void* found = nullptr;
  if (dladdr(caller, &info) != 0 && info.dli_fname != nullptr) {
    found = in_scope_of(info.dli_fname, name_);
  }
  if (found == nullptr || is_ours(found)) found = dlsym(RTLD_NEXT, name_);
  if (found != nullptr && !is_ours(found)) return found;
  Search search = {name_, nullptr};
  dl_iterate_phdr(look_for_runtime, &search);
  return search.found != nullptr && is_ours(search.found) ? nullptr : search.found;
}

}  // namespace llmprof::collector
