#pragma once

#include <filesystem>
#include <memory>

#include "base/error.h"

namespace llmprof::session {

// The right to write into a folder, which one process has at a time. Copies share it, and so does
// whatever else this process claims the same folder for; it ends with the last of them, and with
// the process, however that ends. A file system that cannot lock folders gives it to everybody.
class FolderClaim {
 public:
  // Of a folder that exists; an error where another process has it.
  static Result<FolderClaim> take(const std::filesystem::path& folder);

 private:
  class Lock;
  explicit FolderClaim(std::shared_ptr<Lock> lock) : lock_(std::move(lock)) {}
  std::shared_ptr<Lock> lock_;
};

}  // namespace llmprof::session
