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

// Writes a file of a bundle completely or not at all. If its name belongs to anything else (a
// symbolic link, a pipe, a device), it is refused, never replaced. For files that a user names, use
// write_named_file.
Result<void> write_file_atomically(const std::filesystem::path& path, std::string_view content);

// The same, but fails if the file exists: of two processes, only one writes it.
Result<void> write_new_file(const std::filesystem::path& path, std::string_view content);

// Makes a folder of a bundle and its parents; a symbolic link is refused.
Result<void> make_own_folder(const std::filesystem::path& folder);

// Writes under a temporary name, flushes and renames. A replaced file passes on its permissions
// and, if allowed, its owner.
Result<void> replace_file(const std::filesystem::path& path, std::string_view content);

// Writes everything, or returns the error number; 0: success.
int write_all(int descriptor, std::string_view content);

// Opens a file for reading. Anything but a regular file is refused at once, with its type: a pipe
// would wait for a writer, a device may never end.
Result<FileDescriptor> open_for_reading(const std::filesystem::path& path);

// The entire content of a file if `is_wanted` accepts its first bytes, otherwise only these bytes,
// so that a file of any size is refused without being read.
using HeadTest = bool (*)(std::string_view head);
Result<std::string> read_file(const std::filesystem::path& path, HeadTest is_wanted);

// The content of a small file; none if it cannot be opened or read. A std::ifstream would throw if
// a process ends while its entry in /proc is read.
std::optional<std::string> file_content(const std::filesystem::path& path);

// The entries of a folder, unordered; empty if it cannot be read.
std::vector<std::filesystem::path> entries_of(const std::filesystem::path& folder);

// Of what a path leads to; none if that cannot be found out. Links are followed.
std::filesystem::file_status status_of(const std::filesystem::path& path);
inline bool is_file(const std::filesystem::path& path) { return is_regular_file(status_of(path)); }
inline bool is_folder(const std::filesystem::path& path) { return is_directory(status_of(path)); }
inline bool path_exists(const std::filesystem::path& path) { return exists(status_of(path)); }
// Removes a file if there is one and it can be removed.
void remove_file(const std::filesystem::path& path);
// Empty if there is no working folder anymore.
std::filesystem::path absolute_path(const std::filesystem::path& path);
// The executable of this process.
std::filesystem::path own_program();

// Removed with its content when this object ends. An empty path: no folder.
class ScratchFolder {
 public:
  explicit ScratchFolder(std::filesystem::path path) : path_(std::move(path)) {}
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  ~ScratchFolder();
  // A new one in `parent`, whose name begins with `prefix`; empty, with errno set, if there is
  // none.
  static std::filesystem::path make(const std::filesystem::path& parent, std::string_view prefix);

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

// "path: No such file or directory", from errno.
Error system_error(ErrorKind kind, const std::filesystem::path& path, int error_number);

// Writes a file that a user named. `-`, /dev/stdout, /dev/stderr and /dev/fd/N are descriptors and
// are written to, whatever they are. A symbolic link stands for its target. A regular file is
// replaced completely or not at all (replace_file). Anything else (a pipe, a terminal, a device) is
// written to. Every option that names an output file uses this.
Result<void> write_named_file(const std::filesystem::path& path, std::string_view content);

}  // namespace llmprof
