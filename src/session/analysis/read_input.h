#pragma once

#include <cstdint>
#include <filesystem>

#include "base/error.h"
#include "base/progress.h"
#include "session/bundle/run_dir.h"
#include "trace/builder.h"

namespace llmprof::session {

// What a file is, recognized from its first bytes.
enum class Content : uint8_t {
  unknown,
  capture,  // of a format that is read
  report,   // of a tool that has to convert it
};
Content content_of(const std::filesystem::path& path);

// A folder that is gone with this object. Empty: none.
class TemporaryFolder {
 public:
  explicit TemporaryFolder(std::filesystem::path path) : path_(std::move(path)) {}
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder() {
    std::error_code ignored;
    if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
  }
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

// Reads one file with whichever reader recognizes its content. Reports of nsys and ncu are
// converted first, in a temporary folder in `out`.
Result<void> read_input(const std::filesystem::path& path, trace::TraceBuilder& builder,
                        OutputFolder& out, Progress& progress);

}  // namespace llmprof::session
