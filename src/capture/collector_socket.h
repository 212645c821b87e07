#pragma once

#include <sys/types.h>

#include <chrono>
#include <string>
#include <string_view>

#include "base/error.h"

namespace llmprof::capture {

// Sends a question to the collector in a running process, over its socket (docs/collector.md), and
// returns its answer after "ok: ". An error says why not: no such process, no collector in it, no
// permission, no answer in time, or the collector's answer after "error: ".
Result<std::string> ask_collector(pid_t pid, std::string_view question,
                                  std::chrono::milliseconds patience);

}  // namespace llmprof::capture
