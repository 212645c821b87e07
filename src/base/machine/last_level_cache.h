#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>

namespace llmprof {

// Bytes of all caches of the highest level together: data that fit are not read from memory again.
// None if the system does not report it. `cpus` is /sys/devices/system/cpu.
std::optional<size_t> last_level_cache_bytes(const std::filesystem::path& cpus);
std::optional<size_t> last_level_cache_bytes();

}  // namespace llmprof
