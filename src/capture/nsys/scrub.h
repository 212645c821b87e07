#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string_view>

#include "base/error.h"

namespace llmprof::capture {

// Removes the environment variables that nsys stored from one of our exports, except those with
// allowed names, and the secrets from its command lines. Returns how many were removed. A copy
// without them, and without the remnants that SQLite leaves in unused bytes, replaces the file; on
// an error the file is unchanged.
Result<uint64_t> scrub_environment(const std::filesystem::path& sqlite_export,
                                   std::span<const std::string_view> allowed);

}  // namespace llmprof::capture
