#pragma once

#include <filesystem>
#include <optional>

#include "session/bundle/run_dir.h"

namespace llmprof::session {

// Where a bundle goes. The folder is created when the first file goes into it, so that an analysis
// that fails leaves none behind.
class OutputFolder {
 public:
  // None: a new one under tmp/analyze. `force` allows one that is not empty.
  OutputFolder(std::optional<std::filesystem::path> path, bool force)
      : path_(std::move(path)), force_(force) {}

  // Whether it can be opened, before an analysis takes its time.
  [[nodiscard]] Result<void> check() const;
  // The same folder on every call, created again where it was removed because it was empty.
  Result<Artifacts> open();

 private:
  std::optional<std::filesystem::path> path_;
  bool force_;
};

}  // namespace llmprof::session
