#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace llmprof {

// A variable of this process's environment; empty if it is not set.
std::string environment_variable(const std::string& name);

// The value of the first line "key : value" of such a text, or "key=value"; empty if there is none.
std::string_view value_of_key(std::string_view text, std::string_view key, char separator = ':');

// "Neoverse-N1", from the text of /proc/cpuinfo, which on arm64 contains only numbers. Empty if it
// contains neither.
std::string cpu_name(std::string_view cpuinfo);

// CPU time since the machine started, in seconds summed over CPUs.
struct CpuTimes {
  double busy = 0;  // all programs, the kernel, and other guests of the same host ("steal")
  size_t cpus = 0;
};

// From the text of /proc/stat, only for these CPUs. None if one is missing.
std::optional<CpuTimes> cpu_times(std::string_view proc_stat, const std::vector<size_t>& cpus,
                                  double ticks_per_second);

// For the CPUs that this process may use; none if /proc/stat cannot be read.
std::optional<CpuTimes> usable_cpu_times();

// CPU seconds of this process and of all its children that have ended.
double own_cpu_seconds();

// Total bytes of all caches of the highest level: data that fit are not read from memory again.
// None if the system does not report it. `cpus` is /sys/devices/system/cpu.
std::optional<size_t> last_level_cache_bytes(const std::filesystem::path& cpus);
std::optional<size_t> last_level_cache_bytes();

// The lowest limit that `limit_in` reads from this file ("cpu.max", "memory.max") in the process's
// control group (version 2) and in the groups that contain it; none if no group sets one.
std::optional<size_t> least_control_group_limit(
    const std::string& file,
    const std::function<std::optional<size_t>(const std::string& content)>& limit_in);

// The machine's memory; 0: unknown.
size_t machine_memory_bytes();
// Memory that this process may use: the machine's, or less if its control group limits it. 0:
// unknown.
size_t usable_memory_bytes();

}  // namespace llmprof
