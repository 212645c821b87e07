#include "capture/executables.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

namespace llmprof::capture {

bool is_executable_file(const std::filesystem::path& path) {
  struct stat about{};
  return ::stat(path.c_str(), &about) == 0 && S_ISREG(about.st_mode) &&
         ::access(path.c_str(), X_OK) == 0;
}

std::optional<std::filesystem::path> find_executable(std::string_view name,
                                                     std::string_view path_list) {
  if (name.empty()) return std::nullopt;
  if (name.find('/') != std::string_view::npos) {
    return is_executable_file(name) ? std::optional<std::filesystem::path>(name) : std::nullopt;
  }
  while (!path_list.empty()) {
    const size_t colon = std::min(path_list.find(':'), path_list.size());
    const std::string_view folder = path_list.substr(0, colon);
    path_list.remove_prefix(std::min(colon + 1, path_list.size()));
    std::filesystem::path candidate = std::filesystem::path(folder) / name;
    if (!folder.empty() && is_executable_file(candidate)) return candidate;
  }
  return std::nullopt;
}

}  // namespace llmprof::capture
