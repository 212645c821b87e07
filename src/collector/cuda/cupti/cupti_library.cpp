#include "collector/cuda/cupti/cupti_library.h"

#include <dlfcn.h>
#include <link.h>

#include <climits>
#include <cstdio>
#include <cstring>
#include <initializer_list>

#include "collector/environment.h"

namespace llmprof::collector {
namespace {

constexpr const char* kLibraryNames[] = {"libcupti.so.13", "libcupti.so.12", "libcupti.so"};
constexpr const char* kFolders[] = {"lib64", "extras/CUPTI/lib64", "lib"};

struct Library {
  void* handle = nullptr;
  uint32_t version = 0;
  char path[PATH_MAX] = {};
  CuptiFunctions functions;
};
constinit Library library;

void* open_library(const char* file, int flags) {
  return dlopen(file, RTLD_NOW | RTLD_LOCAL | flags);
}

void* find_by_name(int flags) {
  for (const char* name : kLibraryNames) {
    if (void* found = open_library(name, flags); found != nullptr) return found;
  }
  return nullptr;
}

void* find_in_toolkit(const char* home) {
  for (const char* folder : kFolders) {
    for (const char* name : kLibraryNames) {
      char file[PATH_MAX];
      const int length = snprintf(file, sizeof file, "%s/%s/%s", home, folder, name);
      if (length <= 0 || static_cast<size_t>(length) >= sizeof file) continue;
      if (void* found = open_library(file, 0); found != nullptr) return found;
    }
  }
  return nullptr;
}

void* find_library() {
  // Chosen by the user: this one or none.
  if (const char* named = value_of("LLMPROF_CUPTI"); named != nullptr) {
    return open_library(named, 0);
  }
  // The program's own, such as the one PyTorch brings: two copies of CUPTI in a process conflict.
  if (void* found = find_by_name(RTLD_NOLOAD); found != nullptr) return found;
  for (const char* home : {value_of("CUDA_HOME"), value_of("CUDA_PATH")}) {
    if (home == nullptr) continue;
    if (void* found = find_in_toolkit(home); found != nullptr) return found;
  }
  if (void* found = find_by_name(0); found != nullptr) return found;
  if (void* found = find_in_toolkit("/usr/local/cuda"); found != nullptr) return found;
  const char* last_resort = value_of("LLMPROF_CUPTI_FALLBACK");
  return last_resort == nullptr ? nullptr : open_library(last_resort, 0);
}

void note_path() {
  link_map* map = nullptr;
  if (dlinfo(library.handle, RTLD_DI_LINKMAP, static_cast<void*>(&map)) != 0 || map == nullptr)
    return;
  const size_t length = strnlen(map->l_name, sizeof library.path - 1);
  std::memcpy(library.path, map->l_name, length);
}

template <class Function>
bool find(Function*& function, const char* name) {
  function = reinterpret_cast<Function*>(dlsym(library.handle, name));
  return function != nullptr;
}

bool find_functions() {
  bool all = true;
#define LLMPROF_FIND(field, name) all = find(library.functions.field, #name) && all;
  LLMPROF_CUPTI_FUNCTIONS(LLMPROF_FIND)
#undef LLMPROF_FIND
  return all;
}

}  // namespace

bool load_cupti() {
  if (library.handle != nullptr) return library.functions.get_version != nullptr;
  library.handle = find_library();
  if (library.handle == nullptr) return false;
  note_path();
  if (!find_functions()) {
    library.functions = {};
    return false;
  }
  library.functions.get_version(&library.version);
  return true;
}

const char* cupti_path() { return library.path; }
uint32_t cupti_version() { return library.version; }
void* cupti_symbol(const char* name) {
  return library.handle == nullptr ? nullptr : dlsym(library.handle, name);
}
const CuptiFunctions& cupti() { return library.functions; }

}  // namespace llmprof::collector
