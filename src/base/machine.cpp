#include "base/machine.h"

#include <fmt/format.h>
#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>
#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>

#include "base/files.h"
#include "base/text.h"

namespace llmprof {
namespace {

// The number that a text starts with.
std::optional<uint64_t> leading_number(std::string_view text, int base = 10) {
  uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  return error == std::errc() ? std::optional(value) : std::nullopt;
}

std::optional<uint64_t> hexadecimal(std::string_view text) {
  return leading_number(text.substr(text.starts_with("0x") ? 2 : 0), 16);
}

struct ArmPart {
  uint32_t implementer;
  uint32_t part;
  std::string_view name;
};

// Implementer and part number in the MIDR register, as assigned by Arm and other vendors.
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

std::string arm_name(uint64_t implementer, uint64_t part) {
  const auto* const known = std::ranges::find_if(kArmParts, [&](const auto& row) {
    return row.implementer == implementer && row.part == part;
  });
  if (known != kArmParts.end()) return std::string(known->name);
  if (implementer == kApple) return "Apple silicon";
  return fmt::format("arm64 CPU (implementer {:#x}, part {:#x})", implementer, part);
}

// user nice system idle iowait irq softirq steal: user already includes guests.
constexpr size_t kColumns = 8;
constexpr size_t kIdle = 3;
constexpr size_t kIoWait = 4;

// "cpu0 72002 40848 ...": the ticks of all columns except idle ones; none for other lines.
std::optional<double> busy_ticks(std::string_view line) {
  std::istringstream columns(std::string(line.substr(std::min(line.find(' '), line.size()))));
  double busy = 0;
  size_t column = 0;
  for (uint64_t ticks = 0; column < kColumns && columns >> ticks; ++column) {
    if (column != kIdle && column != kIoWait) busy += static_cast<double>(ticks);
  }
  if (column <= kIdle) return std::nullopt;
  return busy;
}

std::vector<size_t> usable_cpus() {
  cpu_set_t set;
  CPU_ZERO(&set);
  std::vector<size_t> cpus;
  if (sched_getaffinity(0, sizeof set, &set) != 0) return cpus;
  for (size_t cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (CPU_ISSET(cpu, &set)) cpus.push_back(cpu);
  }
  return cpus;
}

double seconds(const timeval& time) {
  constexpr double kMicro = 1e-6;
  return static_cast<double>(time.tv_sec) + kMicro * static_cast<double>(time.tv_usec);
}

namespace fs = std::filesystem;

// "32768K"; 0 if it is not a size.
size_t cache_size(std::string_view text) {
  constexpr unsigned kKilo = 10;
  const size_t number = leading_number(text).value_or(0);
  const std::string_view size = trim(text);
  if (size.ends_with('K')) return number << kKilo;
  return size.ends_with('M') ? number << 2 * kKilo : number;
}

// The caches of one level: their sizes, by the CPUs that share them.
struct CacheLevel {
  size_t level = 0;
  std::map<std::string, size_t> sizes;
};

void add_cache(const fs::path& cache, CacheLevel& highest) {
  const auto level = leading_number(file_content(cache / "level").value_or(""));
  const size_t size = cache_size(file_content(cache / "size").value_or(""));
  if (!level || size == 0 || *level < highest.level) return;
  if (*level > highest.level) highest = {*level, {}};
  highest.sizes[file_content(cache / "shared_cpu_list").value_or("")] = size;
}

// "max" means no limit.
std::optional<size_t> memory_limit(const std::string& content) {
  const auto bytes = parse_int(trim(content));
  return bytes && *bytes >= 0 ? std::optional(static_cast<size_t>(*bytes)) : std::nullopt;
}

}  // namespace

std::string environment_variable(const std::string& name) {
  const char* value = std::getenv(name.c_str());
  return value == nullptr ? std::string() : value;
}

std::string_view value_of_key(std::string_view text, std::string_view key, char separator) {
  for (const std::string_view line : split(text, '\n')) {
    const size_t at = line.find(separator);
    if (at != std::string_view::npos && trim(line.substr(0, at)) == key) {
      return trim(line.substr(at + 1));
    }
  }
  return {};
}

std::string cpu_name(std::string_view cpuinfo) {
  const std::string_view name = value_of_key(cpuinfo, "model name");
  if (!name.empty()) return std::string(name);
  const auto implementer = hexadecimal(value_of_key(cpuinfo, "CPU implementer"));
  const auto part = hexadecimal(value_of_key(cpuinfo, "CPU part"));
  if (implementer && part) return arm_name(*implementer, *part);
  return {};
}

std::optional<CpuTimes> cpu_times(std::string_view proc_stat, const std::vector<size_t>& cpus,
                                  double ticks_per_second) {
  CpuTimes times;
  for (const size_t cpu : cpus) {
    const std::string head = fmt::format("\ncpu{} ", cpu);
    const size_t at = proc_stat.find(head);
    if (at == std::string_view::npos) return std::nullopt;
    std::string_view line = proc_stat.substr(at + 1);
    const auto ticks = busy_ticks(line.substr(0, line.find('\n')));
    if (!ticks) return std::nullopt;
    times.busy += *ticks / ticks_per_second;
    ++times.cpus;
  }
  if (times.cpus == 0) return std::nullopt;
  return times;
}

std::optional<CpuTimes> usable_cpu_times() {
  const long ticks = sysconf(_SC_CLK_TCK);
  const auto text = file_content("/proc/stat");
  if (ticks <= 0 || !text) return std::nullopt;
  return cpu_times(*text, usable_cpus(), static_cast<double>(ticks));
}

double own_cpu_seconds() {
  double sum = 0;
  for (const auto who : {RUSAGE_SELF, RUSAGE_CHILDREN}) {
    rusage usage{};
    if (getrusage(who, &usage) == 0) sum += seconds(usage.ru_utime) + seconds(usage.ru_stime);
  }
  return sum;
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

size_t machine_memory_bytes() {
  const long pages = sysconf(_SC_PHYS_PAGES);
  const long page = sysconf(_SC_PAGESIZE);
  return pages > 0 && page > 0 ? static_cast<size_t>(pages) * static_cast<size_t>(page) : 0;
}

size_t usable_memory_bytes() {
  const size_t memory = machine_memory_bytes();
  const auto limit = least_control_group_limit("memory.max", memory_limit);
  return limit ? std::min(*limit, memory == 0 ? *limit : memory) : memory;
}

}  // namespace llmprof
