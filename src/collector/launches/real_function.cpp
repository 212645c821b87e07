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

struct CallingLibrary {
  uintptr_t address;
  const char* name = "";  // empty: the program itself
  uintptr_t begin = 0;
  uintptr_t end = 0;
};

int look_for_code(dl_phdr_info* library, size_t /*size*/, void* data) {
  auto& calling = *static_cast<CallingLibrary*>(data);
  for (int i = 0; i < library->dlpi_phnum; ++i) {
    const auto& segment = library->dlpi_phdr[i];
    if (segment.p_type != PT_LOAD) continue;
    const uintptr_t begin = library->dlpi_addr + segment.p_vaddr;
    if (calling.address < begin || calling.address - begin >= segment.p_memsz) continue;
    calling.name = library->dlpi_name;
    calling.begin = begin;
    calling.end = begin + segment.p_memsz;
    return 1;
  }
  return 0;
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
  CallingLibrary calling{reinterpret_cast<uintptr_t>(caller)};
  if (void* known = known_.of(calling.address); known != nullptr) return known;
  dl_iterate_phdr(look_for_code, &calling);
  void* function = find(name_, calling.name);
  if (function != nullptr && calling.end != 0) {
    known_.remember(calling.begin, calling.end, function);
  }
  return function;
}

}  // namespace llmprof::collector
