#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace llmprof {

// Up to this compressed size a gzip file is decompressed in one piece, which libdeflate does about
// three times as fast as zlib's stream; the piece must fit a reader's fixed memory allowance.
inline constexpr size_t kSmallGzipBytes = 8UL << 20U;
inline constexpr size_t kLargestGzipBlock = 128UL << 20U;

// The content of a whole, undamaged gzip file of one or more members whose content is at most
// kLargestGzipBlock; otherwise nothing, and the caller streams it instead.
std::optional<std::string> gunzip_small(std::string_view compressed);

// A whole zlib stream (RFC 1950). `level` is libdeflate's, 0 to 12.
std::string zlib_compressed(std::string_view content, int level);

// The content of such a stream, which must be `size` bytes and undamaged; nothing otherwise.
std::optional<std::string> zlib_decompressed(std::string_view stream, size_t size);

}  // namespace llmprof
