#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string_view>

#include "base/error.h"

namespace llmprof::capture {

// Takes the environment variables that nsys stored out of an export of our own, but for those whose
// names are allowed, and the secrets out of its command lines; returns how many went. The file is
// replaced as a whole by a copy without them and without the remnants that SQLite leaves in unused
// bytes; on an error it is as it was.
Result<uint64_t> scrub_environment(const std::filesystem::path& sqlite_export,
                                   std::span<const std::string_view> allowed);

}  // namespace llmprof::capture
