#pragma once

#include <filesystem>
#include <initializer_list>

#include "trace/trace.h"

namespace llmprof::testing {

// Captures read into one trace, each by the reader that recognises it; fails the process when one
// cannot be read.
Trace captured_trace(std::initializer_list<std::filesystem::path> paths);

}  // namespace llmprof::testing
