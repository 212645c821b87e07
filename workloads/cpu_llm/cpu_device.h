#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace cpu_llm {

// "Neoverse-N1"; "unknown CPU" if the system does not report it.
std::string cpu_name();

// CPUs that this process may use, by its affinity and the quota of its control group. At least 1.
size_t available_cpus();

// CPUs of the machine, or those that the quota leaves of them, whatever this process is bound to.
size_t machine_cpus();

// Whole CPUs of a quota in the format of cpu.max ("150000 100000", "max 100000"); none: no limit.
std::optional<size_t> cpus_of_quota(std::string_view cpu_max);

}  // namespace cpu_llm
