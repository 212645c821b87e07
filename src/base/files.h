#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"

namespace llmprof {

// The file appears completely or not at all: written under a temporary name, flushed, renamed.
Result<void> write_file_atomically(const std::filesystem::path& path, std::string_view content);

// The content of a small file; nothing if it cannot be opened or read. A std::ifstream would throw
// if a process ends while its entry in /proc is read.
std::optional<std::string> file_content(const std::filesystem::path& path);

// "path: No such file or directory", from errno.
Error system_error(ErrorKind kind, const std::filesystem::path& path, int error_number);

}  // namespace llmprof
