#include "base/files.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "base/file_descriptor.h"

namespace llmprof {

Error system_error(ErrorKind kind, const std::filesystem::path& path, int error_number) {
  return {kind,
          fmt::format("{}: {}", path.string(), std::generic_category().message(error_number))};
}

std::optional<std::string> file_content(const std::filesystem::path& path) {
  const FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.valid()) return std::nullopt;
  std::string content;
  char piece[1 << 14];
  while (true) {
    const ssize_t bytes = ::read(file.get(), piece, sizeof piece);
    if (bytes == 0) return content;
    if (bytes > 0) {
      content.append(piece, static_cast<size_t>(bytes));
    } else if (errno != EINTR) {
      return std::nullopt;
    }
  }
}

Result<void> write_file_atomically(const std::filesystem::path& path, std::string_view content) {
  const std::filesystem::path aside = path.string() + fmt::format(".{}.tmp", ::getpid());
  const auto give_up = [&](int error_number) {
    ::unlink(aside.c_str());
    return fail_with(system_error(ErrorKind::tool, path, error_number).within("cannot write"));
  };
  FileDescriptor file(::open(aside.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644));
  if (!file.valid()) return give_up(errno);
  while (!content.empty()) {
    const ssize_t written = ::write(file.get(), content.data(), content.size());
    if (written < 0) {
      if (errno == EINTR) continue;
      return give_up(errno);
    }
    content.remove_prefix(static_cast<size_t>(written));
  }
  if (::fsync(file.get()) != 0 && errno != EINVAL && errno != EROFS) return give_up(errno);
  if (file.close() != 0) return give_up(errno);
  if (::rename(aside.c_str(), path.c_str()) != 0) return give_up(errno);
  return {};
}

}  // namespace llmprof
