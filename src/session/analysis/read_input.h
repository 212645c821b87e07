#pragma once

#include <filesystem>

#include "base/error.h"
#include "base/progress.h"
#include "session/bundle/output_folder.h"
#include "trace/builder.h"

namespace llmprof::session {

// Reads one file with whichever reader recognizes its content. Reports of nsys and ncu are
// converted first, in a temporary folder in `out`.
Result<void> read_input(const std::filesystem::path& path, trace::TraceBuilder& builder,
                        OutputFolder& out, Progress& progress);

}  // namespace llmprof::session
