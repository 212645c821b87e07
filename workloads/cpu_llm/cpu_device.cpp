#include "cpu_llm/cpu_device.h"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "base/machine.h"

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
  const size_t cpus = machine_cpus();
  return std::max<size_t>(1, std::min(cpus, affinity_cpus().value_or(cpus)));
}

size_t machine_cpus() {
  const auto online = static_cast<size_t>(std::max(1L, sysconf(_SC_NPROCESSORS_ONLN)));
  const auto quota = llmprof::least_control_group_limit("cpu.max", cpus_of_quota);
  return std::min(online, quota.value_or(online));
}

}  // namespace cpu_llm
