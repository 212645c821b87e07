#include "collector/own_path.h"

#include <dlfcn.h>

#include <climits>
#include <cstdlib>
#include <cstring>

namespace llmprof::collector {
namespace {

// Resolved when the library is loaded: its path may be relative to a folder that the program
// leaves.
constinit char own[PATH_MAX] = {};

// Before the constructors that ask for it.
constexpr int kFirst = 101;
[[gnu::constructor(kFirst)]] void find_own_path() {
  Dl_info info{};
  if (dladdr(reinterpret_cast<const void*>(&own_path), &info) == 0) return;
  if (realpath(info.dli_fname, own) == nullptr) own[0] = '\0';
}

const char* file_name(const char* path) {
  const char* slash = std::strrchr(path, '/');
  return slash == nullptr ? path : slash + 1;
}

}  // namespace

const char* own_path() { return own[0] == '\0' ? nullptr : own; }

bool names_this_library(const char* path) {
  char resolved[PATH_MAX];
  return own[0] != '\0' && path != nullptr && realpath(path, resolved) != nullptr &&
         std::strcmp(own, resolved) == 0;
}

bool names_a_collector(const char* path) {
  if (path == nullptr || own[0] == '\0') return false;
  return std::strcmp(file_name(path), file_name(own)) == 0 || names_this_library(path);
}

}  // namespace llmprof::collector
