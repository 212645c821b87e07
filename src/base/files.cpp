#include "base/files.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/stat.h>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <system_error>
#include <thread>

#include "base/text.h"

namespace llmprof {
namespace {

namespace fs = std::filesystem;
using fs::file_type;

Error cannot_write(const fs::path& path, int error_number) {
  return system_error(ErrorKind::tool, path, error_number).within("cannot write");
}

std::string_view name_of(file_type type) {
  constexpr std::pair<file_type, std::string_view> kNames[] = {
      {file_type::symlink, "a symbolic link"},
      {file_type::directory, "a folder"},
      {file_type::fifo, "a pipe"},
      {file_type::socket, "a socket"},
      {file_type::block, "a device"},
      {file_type::character, "a device"}};
  for (const auto& [known, name] : kNames) {
    if (type == known) return name;
  }
  return "a file";
}

// A link in a bundle would let its creator choose which file we overwrite.
Result<void> refuse_what_is_not_ours(const fs::path& path, file_type wanted) {
  std::error_code unreadable;
  const file_type found = fs::symlink_status(path, unreadable).type();
  if (found == wanted || found == file_type::not_found || found == file_type::none) return {};
  return fail(ErrorKind::tool,
              fmt::format("cannot write: {}: is {}, not {}; llmprof neither follows nor replaces "
                          "it inside a bundle: remove it, or name another folder with --out",
                          path.string(), name_of(found), name_of(wanted)));
}

enum class Existing : uint8_t { replaced, kept };

int rename_file(const std::string& from, const fs::path& to, Existing existing) {
  if (existing == Existing::replaced) return ::rename(from.c_str(), to.c_str());
  const int done = ::renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_NOREPLACE);
  if (done == 0 || (errno != EINVAL && errno != ENOSYS)) return done;
  // The file system does not support the flag; link() also fails if the name exists.
  if (::link(from.c_str(), to.c_str()) != 0) return -1;
  return ::unlink(from.c_str());
}

// Writes to another name in the same folder first, so that `path` is complete at any time.
Result<void> put_in_place(const fs::path& path, std::string_view content, Existing existing) {
  struct stat before{};
  const bool replaces = ::stat(path.c_str(), &before) == 0;
  constexpr mode_t kNew = 0644;
  constexpr mode_t kPermissions = 07777;
  // Other users must not read a file that is about to get stricter permissions.
  constexpr mode_t kUntilThen = 0600;
  std::string aside;
  int opened = -1;
  // A name that is taken, even by a link, belongs to another process.
  for (int number = 0; opened < 0 && number < 100; ++number) {
    aside = path.string() + fmt::format(".{}{}.tmp", ::getpid(),
                                        number == 0 ? std::string() : fmt::format("-{}", number));
    opened = ::open(aside.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC,
                    replaces ? kUntilThen : kNew);
    if (opened < 0 && errno != EEXIST) break;
  }
  FileDescriptor file(opened);
  if (!file.valid()) return fail_with(cannot_write(path, errno));
  const auto give_up = [&](int error_number) {
    ::unlink(aside.c_str());
    return fail_with(cannot_write(path, error_number));
  };
  if (replaces) {
    // Only root may change the owner; otherwise the file stays the writer's.
    [[maybe_unused]] const int given = ::fchown(file.get(), before.st_uid, before.st_gid);
    if (::fchmod(file.get(), before.st_mode & kPermissions) != 0) return give_up(errno);
  }
  if (const int failed = write_all(file.get(), content); failed != 0) return give_up(failed);
  if (::fsync(file.get()) != 0 && errno != EINVAL && errno != EROFS) return give_up(errno);
  if (file.close() != 0) return give_up(errno);
  if (rename_file(aside, path, existing) != 0) return give_up(errno);
  return {};
}

// How long a pipe may have no reader: time to start one in parallel.
constexpr std::chrono::seconds kPatience(5);

// The descriptor that a path stands for. Opening the path would create another open file with its
// own position, and a regular file would be replaced.
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

// Follows all links; the last may lead to a file that does not exist yet.
Result<fs::path> behind_links(const fs::path& path) {
  constexpr int kMostLinks = 40;  // the kernel's limit
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

// Opening a pipe without a reader would wait forever; this gives up.
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
  std::fflush(stdout);  // earlier output comes first
  const int failed = write_all(descriptor, content);
  if (failed == 0) return {};
  return fail_with(cannot_write(path == "-" ? fs::path("standard output") : path, failed));
}

}  // namespace

Error system_error(ErrorKind kind, const fs::path& path, int error_number) {
  return {kind,
          fmt::format("{}: {}", path.string(), std::generic_category().message(error_number))};
}

Result<FileDescriptor> open_for_reading(const fs::path& path) {
  // Opening a device may have side effects.
  const file_type type = status_of(path).type();
  const bool may_open = type == file_type::regular || type == file_type::not_found ||
                        type == file_type::none || type == file_type::unknown;
  if (!may_open) {
    return fail_input(fmt::format(
        "{}: is {}, not a file{}", path.string(), name_of(type),
        type == file_type::directory ? "" : "; write what it delivers into a file and name that"));
  }
  FileDescriptor file(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
  if (!file.valid()) return fail_with(system_error(ErrorKind::input, path, errno));
  return file;
}

Result<std::string> read_file(const fs::path& path, HeadTest is_wanted) {
  const auto file = open_for_reading(path);
  if (!file) return fail_with(file.error());
  std::string content;
  char piece[1 << 14];
  while (true) {
    const ssize_t bytes = ::read(file->get(), piece, sizeof piece);
    if (bytes == 0) return content;
    if (bytes > 0) {
      const bool is_head = content.empty();
      content.append(piece, static_cast<size_t>(bytes));
      if (is_head && is_wanted != nullptr && !is_wanted(content)) return content;
    } else if (errno != EINTR) {
      return fail_with(system_error(ErrorKind::input, path, errno));
    }
  }
}

std::optional<std::string> file_content(const fs::path& path) {
  auto content = read_file(path, nullptr);
  return content ? std::optional(std::move(*content)) : std::nullopt;
}

std::vector<fs::path> entries_of(const fs::path& folder) {
  std::vector<fs::path> entries;
  std::error_code trouble;
  for (fs::directory_iterator entry(folder, trouble), end; !trouble && entry != end;
       entry.increment(trouble)) {
    entries.push_back(entry->path());
  }
  return entries;
}

fs::file_status status_of(const fs::path& path) {
  std::error_code unknown;
  return fs::status(path, unknown);
}

void remove_file(const fs::path& path) {
  std::error_code ignored;
  fs::remove(path, ignored);
}

fs::path absolute_path(const fs::path& path) {
  std::error_code ignored;
  return fs::absolute(path, ignored);
}

fs::path own_program() {
  std::error_code ignored;
  return fs::read_symlink("/proc/self/exe", ignored);
}

ScratchFolder::~ScratchFolder() {
  std::error_code ignored;
  if (!path_.empty()) fs::remove_all(path_, ignored);
}

fs::path ScratchFolder::make(const fs::path& parent, std::string_view prefix) {
  std::string name = (absolute_path(parent) / prefix).string() + "XXXXXX";
  const bool made = !parent.empty() && ::mkdtemp(name.data()) != nullptr;
  return made ? fs::path(name) : fs::path();
}

int write_all(int descriptor, std::string_view content) {
  while (!content.empty()) {
    const ssize_t written = ::write(descriptor, content.data(), content.size());
    if (written < 0) {
      if (errno == EINTR) continue;
      // The descriptor may have been opened as non-blocking.
      pollfd takes{descriptor, POLLOUT, 0};
      if ((errno == EAGAIN || errno == EWOULDBLOCK) && ::poll(&takes, 1, -1) >= 0) continue;
      return errno;
    }
    content.remove_prefix(static_cast<size_t>(written));
  }
  return 0;
}

Result<void> replace_file(const fs::path& path, std::string_view content) {
  return put_in_place(path, content, Existing::replaced);
}

Result<void> write_new_file(const fs::path& path, std::string_view content) {
  return put_in_place(path, content, Existing::kept);
}

Result<void> write_file_atomically(const fs::path& path, std::string_view content) {
  if (auto own = refuse_what_is_not_ours(path, file_type::regular); !own) return own;
  return replace_file(path, content);
}

Result<void> make_own_folder(const fs::path& folder) {
  if (auto own = refuse_what_is_not_ours(folder, file_type::directory); !own) return own;
  std::error_code trouble;
  fs::create_directories(folder, trouble);
  if (!trouble) return {};
  return fail_with(cannot_write(folder, trouble.value()));
}

Result<void> write_named_file(const fs::path& path, std::string_view content) {
  if (const auto descriptor = descriptor_of(path)) return write_into(*descriptor, path, content);
  const auto target = behind_links(path);
  if (!target) return fail_with(target.error());
  if (const auto descriptor = descriptor_of(*target)) return write_into(*descriptor, path, content);
  const fs::file_status status = status_of(*target);
  if (!fs::exists(status) || fs::is_regular_file(status)) return replace_file(*target, content);
  const auto file = open_what_is_there(*target);
  if (!file) return fail_with(file.error());
  return write_into(file->get(), path, content);
}

}  // namespace llmprof
