#pragma once

#include <cstdint>
#include <filesystem>

#include "base/error.h"
#include "base/progress.h"
#include "session/bundle/output_folder.h"
#include "trace/builder.h"

namespace llmprof::session {

// What a file is, as far as its first bytes tell.
enum class Content : uint8_t {
  unknown,
  capture,  // of a format that is read
  report,   // of a tool that has to convert it
};
Content content_of(const std::filesystem::path& path);

// Reads one file with whichever reader recognizes its content. Reports of nsys and ncu are
// converted first, in a temporary folder in `out`.
Result<void> read_input(const std::filesystem::path& path, trace::TraceBuilder& builder,
                        OutputFolder& out, Progress& progress);

}  // namespace llmprof::session
