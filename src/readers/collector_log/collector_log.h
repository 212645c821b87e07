#pragma once

#include <string_view>

#include "readers/shared/reader.h"

namespace llmprof::readers {

// Capture::tool of such a log.

// The collector's own log (.llmtrace, docs/collector.md), plain or gzip-compressed: one process,
// its threads, ranges, steps and CPU operators, and what it did on GPUs.
extern const Reader kCollectorLogReader;

}  // namespace llmprof::readers
