#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>

#include "base/error.h"

namespace llmprof {

// A file's content from front to back, decompressed. Not thread-safe.
class ByteStream {
 public:
  ByteStream() = default;
  ByteStream(const ByteStream&) = delete;
  ByteStream& operator=(const ByteStream&) = delete;
  virtual ~ByteStream() = default;

  // Fills `buffer` as far as the content reaches; fewer bytes than requested means the end, after
  // which every call returns 0. A truncated or damaged gzip stream gives what precedes the damage,
  // then ends with `damage()` set.
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

// All of the content; more than `limit` bytes is an error that says so.
Result<std::string> read_all(ByteStream& stream, size_t limit);
// The same of a file, which errors name.
Result<std::string> read_all(const std::filesystem::path& path, size_t limit);

// How many bytes of files this process has read so far, for a progress line that asks ten times a
// second. Whoever reads files in bulk counts, once for each block: the count costs nothing, and
// readers need not know that somebody watches. Bytes are those of the file, compressed or not.
void count_bytes_read(uint64_t bytes);
uint64_t bytes_read();

}  // namespace llmprof
