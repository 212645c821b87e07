#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace llmprof {

// Gzip files up to this compressed size are decompressed at once, which libdeflate does about three
// times as fast as zlib's stream. The content must fit into a reader's fixed memory allowance.
inline constexpr size_t kSmallGzipBytes = 8UL << 20U;
inline constexpr size_t kLargestGzipBlock = 128UL << 20U;

// The content of a complete, undamaged gzip file of one or more members, if it is at most
// kLargestGzipBlock; otherwise none, and the caller streams it instead.
std::optional<std::string> gunzip_small(std::string_view compressed);

// A complete zlib stream (RFC 1950). `level` is libdeflate's, 0 to 12.
std::string zlib_compressed(std::string_view content, int level);

// A gzip file of one member, without a name and a time.
std::string gzip_compressed(std::string_view content, int level);

// The content of a complete zlib stream if it is undamaged and has `size` bytes; otherwise none.
std::optional<std::string> zlib_decompressed(std::string_view stream, size_t size);

}  // namespace llmprof
