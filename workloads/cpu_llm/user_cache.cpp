#include "cpu_llm/user_cache.h"

#include <cstdlib>

namespace llmprof {

std::optional<std::filesystem::path> user_cache_folder() {
  const auto absolute = [](const char* name) -> std::optional<std::filesystem::path> {
    const char* const value = std::getenv(name);
    if (value == nullptr) return std::nullopt;
    std::filesystem::path folder(value);
    if (!folder.is_absolute()) return std::nullopt;
    return folder;
  };
  if (auto cache = absolute("XDG_CACHE_HOME")) return *cache / "llmprof";
  if (auto home = absolute("HOME")) return *home / ".cache" / "llmprof";
  return std::nullopt;
}

}  // namespace llmprof
