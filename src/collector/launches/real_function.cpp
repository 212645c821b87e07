#include "collector/launches/real_function.h"

#include <dlfcn.h>
#include <link.h>

#include <cstdint>
#include <cstring>

#include "collector/launches/loaded_library.h"

namespace llmprof::collector {
namespace {

void* in_scope_of(const char* library, const char* name) {
  void* handle = dlopen(library, RTLD_LAZY | RTLD_NOLOAD);
  return handle == nullptr ? nullptr : dlsym(handle, name);
}

bool is_ours(const void* function) {
  static const int in_this_library = 0;
  Dl_info theirs{};
  Dl_info own{};
  return dladdr(function, &theirs) != 0 && dladdr(&in_this_library, &own) != 0 &&
         theirs.dli_fbase == own.dli_fbase;
}

struct Search {
  const char* name;
  void* found;
};

// A library that was loaded locally (RTLD_LOCAL) is in no other library's scope.
int look_for_runtime(dl_phdr_info* library, size_t /*size*/, void* data) {
  auto& search = *static_cast<Search*>(data);
  if (std::strstr(library->dlpi_name, "libcudart.so") != nullptr) {
    search.found = in_scope_of(library->dlpi_name, search.name);
  }
  return search.found != nullptr ? 1 : 0;
}

void* find(const char* name, const char* library) {
  void* found = library[0] == '\0' ? nullptr : in_scope_of(library, name);
  if (found == nullptr || is_ours(found)) found = dlsym(RTLD_NEXT, name);
  if (found != nullptr && !is_ours(found)) return found;
  Search search = {name, nullptr};
  dl_iterate_phdr(look_for_runtime, &search);
  return search.found != nullptr && is_ours(search.found) ? nullptr : search.found;
}

}  // namespace

void* RealFunction::seen_from(const void* caller) {
  if (void* known = known_.of(reinterpret_cast<uintptr_t>(caller)); known != nullptr) return known;
  const LoadedLibrary calling = library_at(caller);
  void* function = find(name_, calling.name);
  if (function != nullptr && calling.end != 0) {
    known_.remember(calling.begin, calling.end, function);
  }
  return function;
}

}  // namespace llmprof::collector
