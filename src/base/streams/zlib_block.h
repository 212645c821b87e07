#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace llmprof {

// A whole zlib stream (RFC 1950). `level` is libdeflate's, 0 to 12.
std::string zlib_compressed(std::string_view content, int level);

// The content of such a stream, which must be `size` bytes and undamaged; nothing otherwise.
std::optional<std::string> zlib_decompressed(std::string_view stream, size_t size);

}  // namespace llmprof
