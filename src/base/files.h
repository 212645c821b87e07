#pragma once

#include <unistd.h>

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"

namespace llmprof {

class FileDescriptor {
 public:
  explicit FileDescriptor(int fd) : fd_(fd) {}
  FileDescriptor(FileDescriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  FileDescriptor& operator=(FileDescriptor&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  FileDescriptor(const FileDescriptor&) = delete;
  FileDescriptor& operator=(const FileDescriptor&) = delete;
  ~FileDescriptor() {
    if (valid()) ::close(fd_);
  }

  [[nodiscard]] bool valid() const { return fd_ >= 0; }
  [[nodiscard]] int get() const { return fd_; }
  // Closes now, for callers that must know whether the last bytes reached the disk.
  int close() { return ::close(std::exchange(fd_, -1)); }

 private:
  int fd_;
};

// A file of ours, in a bundle: it appears completely or not at all. Whatever else has its name (a
// symbolic link, a pipe, a device) is refused, never replaced. What a user names goes through
// write_named_file.
Result<void> write_file_atomically(const std::filesystem::path& path, std::string_view content);

// The same, and an error where there is such a file: of two processes only one writes it.
Result<void> write_new_file(const std::filesystem::path& path, std::string_view content);

// A folder of ours, in a bundle, with those above it; a symbolic link is refused.
Result<void> make_own_folder(const std::filesystem::path& folder);

// Written under a temporary name, flushed, renamed. A file that is replaced hands on its
// permissions and, where that is allowed, its owner.
Result<void> replace_file(const std::filesystem::path& path, std::string_view content);

// All of it, or the error number; 0: it is written.
int write_all(int descriptor, std::string_view content);

// A file to be read. What is not a regular one is refused at once, with what it is: a pipe would
// wait for a writer, a device may never end.
Result<FileDescriptor> open_for_reading(const std::filesystem::path& path);

// The whole content of a file that `is_wanted` by its first bytes; of any other the first bytes
// alone, so that a file of any size is refused without being read.
using HeadTest = bool (*)(std::string_view head);
Result<std::string> read_file(const std::filesystem::path& path, HeadTest is_wanted);

// The content of a small file; nothing if it cannot be opened or read. A std::ifstream would throw
// if a process ends while its entry in /proc is read.
std::optional<std::string> file_content(const std::filesystem::path& path);

// What is in a folder, in no order; nothing where it cannot be read.
std::vector<std::filesystem::path> entries_of(const std::filesystem::path& folder);

// "path: No such file or directory", from errno.
Error system_error(ErrorKind kind, const std::filesystem::path& path, int error_number);

// A file that a user named. `-`, /dev/stdout, /dev/stderr and /dev/fd/N are those descriptors,
// which are written into whatever they are; a symbolic link stands for its target; a regular file
// is replaced completely or not at all (replace_file); anything else (a pipe, a terminal, a device)
// is written into. Every option of ours that names a file to write ends here.
Result<void> write_named_file(const std::filesystem::path& path, std::string_view content);

}  // namespace llmprof
