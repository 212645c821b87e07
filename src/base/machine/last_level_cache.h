#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>

namespace llmprof {

// All caches of the highest level together: what could keep data from being read again. None where
// the system does not say. `cpus` is /sys/devices/system/cpu.
std::optional<size_t> last_level_cache_bytes(const std::filesystem::path& cpus);
std::optional<size_t> last_level_cache_bytes();

// Memory that this process can have: the machine's, or less by its control group. 0: unknown.
size_t usable_memory_bytes();

// Data of equal pieces, and of a part that is there in any case.
struct PiecewiseData {
  size_t fewest = 1;  // pieces
  size_t piece_bytes = 0;
  size_t fixed_bytes = 0;
};

// How many pieces make at least four times the cache, so that data read in turn come from memory;
// no more than half the memory holds, but the fewest in any case.
size_t pieces_beyond_cache(const PiecewiseData& data, std::optional<size_t> cache_bytes,
                           size_t memory_bytes);

}  // namespace llmprof
