#include "base/machine/control_group.h"

#include <algorithm>
#include <filesystem>
#include <string_view>

#include "base/files.h"

namespace llmprof {
namespace fs = std::filesystem;

std::optional<size_t> least_control_group_limit(
    const std::string& file,
    const std::function<std::optional<size_t>(const std::string& content)>& limit_in) {
  const fs::path root = "/sys/fs/cgroup";
  constexpr std::string_view kVersion2 = "0::/";
  const std::string groups = file_content("/proc/self/cgroup").value_or("");
  const size_t found = groups.find(kVersion2);
  if (found == std::string::npos) return std::nullopt;
  const size_t begin = found + kVersion2.size();
  fs::path group = root / groups.substr(begin, groups.find('\n', begin) - begin);
  std::optional<size_t> least;
  while (true) {
    const auto limit = limit_in(file_content(group / file).value_or(""));
    if (limit) least = std::min(*limit, least.value_or(*limit));
    if (group == root || !group.has_relative_path()) return least;
    group = group.parent_path();
  }
}

}  // namespace llmprof
