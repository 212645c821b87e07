#include "base/named_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <optional>
#include <string>
#include <system_error>
#include <thread>

#include "base/file_descriptor.h"
#include "base/files.h"
#include "base/text.h"

namespace llmprof {
namespace {

namespace fs = std::filesystem;

// How long a pipe may be without a reader: whoever starts one beside us is given time to.
constexpr std::chrono::seconds kPatience(5);

Error cannot_write(const fs::path& path, int error_number) {
  return system_error(ErrorKind::tool, path, error_number).within("cannot write");
}

// The descriptor that a path stands for. Its file, opened by this path, would be another open file
// with a place of its own, and replaced where it is a regular one.
std::optional<int> descriptor_of(const fs::path& path) {
  const std::string name = path.lexically_normal().string();
  if (name == "-" || name == "/dev/stdout") return STDOUT_FILENO;
  if (name == "/dev/stderr") return STDERR_FILENO;
  for (const std::string_view folder : {"/dev/fd/", "/proc/self/fd/"}) {
    if (!name.starts_with(folder)) continue;
    const auto number = parse_int(std::string_view(name).substr(folder.size()));
    constexpr int64_t kMost = 1 << 20;
    if (number && *number >= 0 && *number < kMost) return static_cast<int>(*number);
  }
  return std::nullopt;
}

// Behind all links, of which the last may lead to a file that does not exist yet.
Result<fs::path> behind_links(const fs::path& path) {
  constexpr int kMostLinks = 40;  // as the kernel has it
  fs::path target = path;
  for (int followed = 0; followed < kMostLinks; ++followed) {
    std::error_code trouble;
    if (!fs::is_symlink(fs::symlink_status(target, trouble))) return target;
    const fs::path next = fs::read_symlink(target, trouble);
    if (trouble) return fail_with(cannot_write(path, trouble.value()));
    target = target.parent_path() / next;
    if (descriptor_of(target)) return target;
  }
  return fail_with(cannot_write(path, ELOOP));
}

// Opening a pipe that nobody reads waits for ever; this ends.
Result<FileDescriptor> open_what_is_there(const fs::path& path) {
  const auto until = std::chrono::steady_clock::now() + kPatience;
  while (true) {
    FileDescriptor file(::open(path.c_str(), O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
    if (file.valid()) {
      ::fcntl(file.get(), F_SETFL, O_WRONLY);
      return file;
    }
    const int trouble = errno;
    if (trouble == ENXIO && fs::is_fifo(path)) {
      if (std::chrono::steady_clock::now() < until) {
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
        continue;
      }
      return fail(ErrorKind::tool,
                  fmt::format("cannot write: {}: is a pipe that no process reads", path.string()));
    }
    if (trouble != EINTR) return fail_with(cannot_write(path, trouble));
  }
}

Result<void> write_into(int descriptor, const fs::path& path, std::string_view content) {
  std::fflush(stdout);  // what was printed before comes first
  const int failed = write_all(descriptor, content);
  if (failed == 0) return {};
  return fail_with(cannot_write(path == "-" ? fs::path("standard output") : path, failed));
}

}  // namespace

Result<void> write_named_file(const fs::path& path, std::string_view content) {
  if (const auto descriptor = descriptor_of(path)) return write_into(*descriptor, path, content);
  const auto target = behind_links(path);
  if (!target) return fail_with(target.error());
  if (const auto descriptor = descriptor_of(*target)) return write_into(*descriptor, path, content);
  std::error_code unreadable;
  const fs::file_status status = fs::status(*target, unreadable);
  if (!fs::exists(status) || fs::is_regular_file(status)) return replace_file(*target, content);
  const auto file = open_what_is_there(*target);
  if (!file) return fail_with(file.error());
  return write_into(file->get(), path, content);
}

}  // namespace llmprof
