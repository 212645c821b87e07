#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>

namespace llmprof {

// The lowest limit that `limit_in` reads from this file ("cpu.max", "memory.max") in the process's
// control group (version 2) and in the groups that contain it; none if no group sets one.
std::optional<size_t> least_control_group_limit(
    const std::string& file,
    const std::function<std::optional<size_t>(const std::string& content)>& limit_in);

// Memory that this process may use: the machine's, or less if its control group limits it. 0:
// unknown.
size_t usable_memory_bytes();

}  // namespace llmprof
