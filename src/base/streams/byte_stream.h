#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>

#include "base/error.h"

namespace llmprof {

// A file's decompressed content from start to end. Not thread-safe.
class ByteStream {
 public:
  ByteStream() = default;
  ByteStream(const ByteStream&) = delete;
  ByteStream& operator=(const ByteStream&) = delete;
  virtual ~ByteStream() = default;

  // Fills `buffer` as far as the content reaches. Fewer bytes than requested means the end, after
  // which every call returns 0. A truncated or damaged gzip stream yields the content before the
  // damage, then ends with `damage()` set.
  virtual Result<size_t> read(std::span<char> buffer) = 0;

  // Why the content ended early; empty if it did not.
  [[nodiscard]] virtual std::string damage() const { return {}; }
};

// Opens a plain or gzip-compressed file, recognized by content.
Result<std::unique_ptr<ByteStream>> open_byte_stream(const std::filesystem::path& path);

// A stream over bytes that outlive it (tests, fuzz targets). Decompresses gzip as well.
std::unique_ptr<ByteStream> stream_over(std::span<const char> bytes);

// The first bytes of the content, at most `limit`, for recognizing a format.
Result<std::string> read_head(const std::filesystem::path& path, size_t limit);

// The entire content; fails if it exceeds `limit` bytes. `expected` bytes need no second copy.
Result<std::string> read_all(ByteStream& stream, size_t limit, size_t expected = 0);
// The same for a file, which errors name.
Result<std::string> read_all(const std::filesystem::path& path, size_t limit);

// File bytes that this process has read so far, for a progress line that queries it ten times per
// second. Code that reads files in bulk counts once per block, which costs nothing, so readers need
// not know about progress. Compressed files count compressed bytes.
void count_bytes_read(uint64_t bytes);
uint64_t bytes_read();

}  // namespace llmprof
