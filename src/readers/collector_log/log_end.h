#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

namespace llmprof::readers {

// How the process of a collector's log ended, from the log's first chunk alone: logs may be large.
struct LogEnd {
  uint64_t process = 0;
  bool by_exit = false;  // else it was killed, left by _exit(), or still runs
};
// None where the file is no such log, or its first chunk is damaged.
std::optional<LogEnd> read_log_end(const std::filesystem::path& log);

}  // namespace llmprof::readers
