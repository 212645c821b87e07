#include "cpu_llm/cpu_device.h"

#include <fmt/format.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <fstream>
#include <iterator>
#include <map>
#include <thread>

namespace cpu_llm {
namespace {

namespace fs = std::filesystem;

std::string content_of(const fs::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kSpace = " \t\r\n";
  const size_t begin = text.find_first_not_of(kSpace);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kSpace) - begin + 1);
}

// The value of the first line "key : value".
std::string_view value_of(std::string_view text, std::string_view key) {
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    const size_t colon = line.find(':');
    if (colon != std::string_view::npos && trimmed(line.substr(0, colon)) == key) {
      return trimmed(line.substr(colon + 1));
    }
  }
  return {};
}

std::optional<size_t> leading_number(std::string_view text) {
  size_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc()) return std::nullopt;
  return value;
}

std::optional<uint32_t> hexadecimal(std::string_view text) {
  constexpr int kBase = 16;
  if (text.starts_with("0x")) text.remove_prefix(2);
  uint32_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, kBase);
  if (error != std::errc()) return std::nullopt;
  return value;
}

struct ArmPart {
  uint32_t implementer;
  uint32_t part;
  std::string_view name;
};

// Implementer and part of the MIDR register, as Arm and the others assign them.
constexpr std::array<ArmPart, 25> kArmParts = {{
    {0x41, 0xd03, "Cortex-A53"},  {0x41, 0xd05, "Cortex-A55"},  {0x41, 0xd07, "Cortex-A57"},
    {0x41, 0xd08, "Cortex-A72"},  {0x41, 0xd09, "Cortex-A73"},  {0x41, 0xd0a, "Cortex-A75"},
    {0x41, 0xd0b, "Cortex-A76"},  {0x41, 0xd0c, "Neoverse-N1"}, {0x41, 0xd0d, "Cortex-A77"},
    {0x41, 0xd40, "Neoverse-V1"}, {0x41, 0xd41, "Cortex-A78"},  {0x41, 0xd42, "Cortex-A78AE"},
    {0x41, 0xd44, "Cortex-X1"},   {0x41, 0xd47, "Cortex-A710"}, {0x41, 0xd48, "Cortex-X2"},
    {0x41, 0xd49, "Neoverse-N2"}, {0x41, 0xd4f, "Neoverse-V2"}, {0x41, 0xd83, "Neoverse-V3AE"},
    {0x41, 0xd84, "Neoverse-V3"}, {0x41, 0xd8e, "Neoverse-N3"}, {0x46, 0x001, "A64FX"},
    {0x48, 0xd01, "Kunpeng-920"}, {0xc0, 0xac3, "Ampere-1"},    {0xc0, 0xac4, "Ampere-1a"},
    {0x43, 0x0af, "ThunderX2"},
}};

constexpr uint32_t kApple = 0x61;

std::string arm_name(uint32_t implementer, uint32_t part) {
  const auto* const known = std::find_if(kArmParts.begin(), kArmParts.end(), [&](const auto& row) {
    return row.implementer == implementer && row.part == part;
  });
  if (known != kArmParts.end()) return std::string(known->name);
  if (implementer == kApple) return "Apple silicon";
  return fmt::format("arm64 CPU (implementer {:#x}, part {:#x})", implementer, part);
}

// "32768K"; 0 where it is no size.
size_t cache_size(std::string_view text) {
  constexpr unsigned kKilo = 10;
  const size_t number = leading_number(text).value_or(0);
  const std::string_view size = trimmed(text);
  if (size.ends_with('K')) return number << kKilo;
  return size.ends_with('M') ? number << 2 * kKilo : number;
}

// The caches of one level: their sizes, by the CPUs that share them.
struct CacheLevel {
  size_t level = 0;
  std::map<std::string, size_t> sizes;
};

void add_cache(const fs::path& cache, CacheLevel& highest) {
  const auto level = leading_number(content_of(cache / "level"));
  const size_t size = cache_size(content_of(cache / "size"));
  if (!level || size == 0 || *level < highest.level) return;
  if (*level > highest.level) highest = {*level, {}};
  highest.sizes[content_of(cache / "shared_cpu_list")] = size;
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

std::string cpu_name(std::string_view cpuinfo) {
  const std::string_view name = value_of(cpuinfo, "model name");
  if (!name.empty()) return std::string(name);
  const auto implementer = hexadecimal(value_of(cpuinfo, "CPU implementer"));
  const auto part = hexadecimal(value_of(cpuinfo, "CPU part"));
  if (implementer && part) return arm_name(*implementer, *part);
  return "unknown CPU";
}

std::string cpu_name() { return cpu_name(content_of("/proc/cpuinfo")); }

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

std::optional<size_t> last_level_cache_bytes(const fs::path& cpus) {
  CacheLevel highest;
  std::error_code error;
  for (const auto& cpu : fs::directory_iterator(cpus, error)) {
    for (const auto& cache : fs::directory_iterator(cpu.path() / "cache", error)) {
      add_cache(cache.path(), highest);
    }
  }
  size_t total = 0;
  for (const auto& [shared, size] : highest.sizes) total += size;
  return total > 0 ? std::optional(total) : std::nullopt;
}

std::optional<size_t> last_level_cache_bytes() {
  if (const auto listed = last_level_cache_bytes("/sys/devices/system/cpu")) return listed;
  for (const int level : {_SC_LEVEL3_CACHE_SIZE, _SC_LEVEL2_CACHE_SIZE}) {
    if (const long size = sysconf(level); size > 0) return static_cast<size_t>(size);
  }
  return std::nullopt;
}

}  // namespace cpu_llm
