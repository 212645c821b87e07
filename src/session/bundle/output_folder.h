#pragma once

#include <filesystem>
#include <optional>
#include <vector>

#include "session/bundle/run_dir.h"

namespace llmprof::session {

// Where a bundle goes. Folders that are made for it and stay empty are gone with this object, so
// that an analysis that fails leaves none behind.
class OutputFolder {
 public:
  // None: a new one under tmp/analyze. `force` allows one that is not empty.
  OutputFolder(std::optional<std::filesystem::path> path, bool force)
      : path_(std::move(path)), force_(force) {}
  // One into which other processes write at the same time, files of other names.
  static OutputFolder shared(std::optional<std::filesystem::path> path) {
    return {std::move(path), true, true};
  }
  OutputFolder(const OutputFolder&) = delete;
  OutputFolder& operator=(const OutputFolder&) = delete;
  ~OutputFolder();

  // Before an analysis takes its time: refuses a folder that is not free, and keeps others from
  // writing into it.
  Result<void> claim();
  // The same folder on every call.
  Result<Artifacts> open();

 private:
  OutputFolder(std::optional<std::filesystem::path> path, bool force, bool is_shared)
      : path_(std::move(path)), force_(force), is_shared_(is_shared) {}

  std::optional<std::filesystem::path> path_;
  bool force_;
  bool is_shared_ = false;
  std::optional<Artifacts> opened_;
  std::vector<std::filesystem::path> made_;  // the innermost first
};

}  // namespace llmprof::session
