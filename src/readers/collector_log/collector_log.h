#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

#include "readers/shared/reader.h"

namespace llmprof::readers {

// The collector's own log (.llmtrace, docs/collector.md), plain or gzip-compressed: one process,
// its threads, ranges, steps and CPU operators, and what it did on GPUs.
extern const Reader kCollectorLogReader;

// How the process of a collector's log ended, from the log's first chunk alone: logs may be large.
struct LogEnd {
  uint64_t process = 0;
  bool by_exit = false;  // else it was killed, left by _exit(), or still runs
};
// None where the file is no such log, or its first chunk is damaged.
std::optional<LogEnd> read_log_end(const std::filesystem::path& log);

}  // namespace llmprof::readers
