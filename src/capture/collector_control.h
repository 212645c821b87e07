#pragma once

#include <sys/types.h>

#include <chrono>
#include <string>
#include <string_view>

#include "base/error.h"

namespace llmprof::cli {

// Asks the collector in a running process, over its socket (docs/collector.md), and gives what it
// answered behind "ok: ". An error says why not: no such process, no collector in it, no right, no
// answer in time, or what the collector answered behind "error: ".
Result<std::string> ask_collector(pid_t pid, std::string_view question,
                                  std::chrono::milliseconds patience);

}  // namespace llmprof::cli
