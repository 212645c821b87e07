#pragma once

#include <filesystem>

#include "base/error.h"
#include "trace/trace.h"

namespace llmprof::testing {

// One capture of any format, frozen.
Result<Trace> read_capture(const std::filesystem::path& path);

}  // namespace llmprof::testing
