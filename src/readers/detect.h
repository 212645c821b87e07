#pragma once

#include <filesystem>
#include <span>
#include <string_view>

#include "base/error.h"
#include "readers/shared/reader.h"

namespace llmprof::readers {

// Enough of the start of a (decompressed) file to recognize every format.
inline constexpr size_t kHeadBytes = 64UL << 10U;

// All readers in the order they are tried: the most specific first.
std::span<const Reader* const> all_readers();

// The reader for this content, or null.
const Reader* find_reader(std::string_view head);

// Says what the file seems to be and what llmprof can read instead.
Error unreadable(const std::filesystem::path& path, std::string_view head);

}  // namespace llmprof::readers
