#include "cpu_llm/cpu_device.h"

#include <sched.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <thread>

#include "base/cpu_name.h"

namespace cpu_llm {
namespace {

namespace fs = std::filesystem;

std::string content_of(const fs::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::optional<size_t> leading_number(std::string_view text) {
  size_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc()) return std::nullopt;
  return value;
}

std::optional<size_t> affinity_cpus() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) != 0) return std::nullopt;
  return static_cast<size_t>(CPU_COUNT(&set));
}

// Of the control group (version 2) and all those around it.
std::optional<size_t> quota_cpus() {
  const fs::path root = "/sys/fs/cgroup";
  constexpr std::string_view kVersion2 = "0::/";
  const std::string groups = content_of("/proc/self/cgroup");
  const size_t found = groups.find(kVersion2);
  if (found == std::string::npos) return std::nullopt;
  const size_t begin = found + kVersion2.size();
  fs::path group = root / groups.substr(begin, groups.find('\n', begin) - begin);
  std::optional<size_t> least;
  while (true) {
    const auto cpus = cpus_of_quota(content_of(group / "cpu.max"));
    if (cpus) least = std::min(*cpus, least.value_or(*cpus));
    if (group == root || !group.has_relative_path()) return least;
    group = group.parent_path();
  }
}

}  // namespace

std::string cpu_name() {
  const std::string name = llmprof::cpu_name(content_of("/proc/cpuinfo"));
  return name.empty() ? "unknown CPU" : name;
}

std::optional<size_t> cpus_of_quota(std::string_view cpu_max) {
  const auto quota = leading_number(cpu_max);
  const size_t space = cpu_max.find(' ');
  if (!quota || space == std::string_view::npos) return std::nullopt;
  const auto period = leading_number(cpu_max.substr(space + 1));
  if (!period || *period == 0) return std::nullopt;
  return std::max<size_t>(1, *quota / *period);
}

size_t available_cpus() {
  const size_t cpus = affinity_cpus().value_or(std::thread::hardware_concurrency());
  return std::max<size_t>(1, std::min(cpus, quota_cpus().value_or(cpus)));
}

}  // namespace cpu_llm
