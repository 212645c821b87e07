#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace llmprof::testing {

// A folder for one test, removed with this object.
class TemporaryFolder {
 public:
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  // Writes (or overwrites) a file in it and returns its path.
  std::filesystem::path write(std::string_view name, std::string_view content) const;

 private:
  std::filesystem::path path_;
};

// A file's raw bytes; ends the process if it cannot be read.
std::string file_bytes(const std::filesystem::path& path);

}  // namespace llmprof::testing
