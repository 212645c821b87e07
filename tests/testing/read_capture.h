#pragma once

#include <filesystem>
#include <vector>

#include "base/error.h"
#include "trace/trace.h"

namespace llmprof::testing {

// One capture of any format, frozen.
Result<trace::Trace> read_capture(const std::filesystem::path& path);
// Several captures, joined in this order.
Result<trace::Trace> read_captures(const std::vector<std::filesystem::path>& paths);

}  // namespace llmprof::testing
