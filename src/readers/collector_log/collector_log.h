#pragma once

#include <string_view>

#include "readers/reader.h"

namespace llmprof {

// Capture::tool of such a log.
inline constexpr std::string_view kCollectorTool = "llmprof collector";

// The collector's own log (.llmtrace, docs/collector.md), plain or gzip-compressed: one process,
// its threads, ranges, steps and CPU operators, and what it did on GPUs.
extern const Reader kCollectorLogReader;

}  // namespace llmprof
