#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "base/error.h"

namespace llmprof::capture {

// Starts a program that goes on when we end (a browser), with no terminal of ours. Waits only as
// long as an opener that hands over to another program takes: one that fails in that time is an
// error, one that still runs is fine.
Result<void> open_detached(const std::vector<std::string>& argv,
                           std::chrono::milliseconds patience);

}  // namespace llmprof::capture
