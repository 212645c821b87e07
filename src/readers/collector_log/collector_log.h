#pragma once

#include "readers/reader.h"

namespace llmprof {

// The collector's own log (.llmtrace, docs/collector.md), plain or gzip-compressed: one process,
// its threads, ranges, steps and CPU operators.
extern const Reader kCollectorLogReader;

}  // namespace llmprof
