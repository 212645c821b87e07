#include "base/machine/limits.h"

#include <unistd.h>
#include <algorithm>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "base/files.h"
#include "base/text.h"

namespace llmprof {
namespace {

// "max" means no limit.
std::optional<size_t> memory_limit(const std::string& content) {
  const auto bytes = parse_int(trim(content));
  if (!bytes || *bytes < 0) return std::nullopt;
  return static_cast<size_t>(*bytes);
}

}  // namespace

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

size_t usable_memory_bytes() {
  const long pages = sysconf(_SC_PHYS_PAGES);
  const long page = sysconf(_SC_PAGESIZE);
  const size_t memory =
      pages > 0 && page > 0 ? static_cast<size_t>(pages) * static_cast<size_t>(page) : 0;
  const auto limit = least_control_group_limit("memory.max", memory_limit);
  return limit ? std::min(*limit, memory == 0 ? *limit : memory) : memory;
}

}  // namespace llmprof
