#pragma once

#include <filesystem>
#include <string_view>

#include "base/error.h"

namespace llmprof {

// A file that a user named. `-`, /dev/stdout, /dev/stderr and /dev/fd/N are those descriptors,
// which are written into whatever they are; a symbolic link stands for its target; a regular file
// is replaced completely or not at all (replace_file); anything else (a pipe, a terminal, a device)
// is written into. Every option of ours that names a file to write ends here.
Result<void> write_named_file(const std::filesystem::path& path, std::string_view content);

}  // namespace llmprof
