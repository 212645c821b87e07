#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>

namespace llmprof {

// The least of what `limit_in` reads from this file ("cpu.max", "memory.max") of the process's
// control group (version 2) and of all those around it; none where no group sets one.
std::optional<size_t> least_control_group_limit(
    const std::string& file,
    const std::function<std::optional<size_t>(const std::string& content)>& limit_in);

}  // namespace llmprof
