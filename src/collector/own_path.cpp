#include "collector/own_path.h"

#include <dlfcn.h>

#include <climits>
#include <cstdlib>
#include <cstring>

namespace llmprof::collector {

const char* own_path() {
  Dl_info info{};
  return dladdr(reinterpret_cast<const void*>(&own_path), &info) != 0 ? info.dli_fname : nullptr;
}

bool names_this_library(const char* path) {
  const char* own = own_path();
  char ours[PATH_MAX];
  char theirs[PATH_MAX];
  return own != nullptr && path != nullptr && realpath(own, ours) != nullptr &&
         realpath(path, theirs) != nullptr && std::strcmp(ours, theirs) == 0;
}

}  // namespace llmprof::collector
