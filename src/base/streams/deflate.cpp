#include "base/streams/deflate.h"

#include <libdeflate.h>
#include <algorithm>
#include <memory>
#include <new>

namespace llmprof {
namespace {

// The last four bytes of a gzip file contain its content's size. They may be wrong, so this is only
// a first guess.
size_t stated_size(std::string_view compressed) {
  size_t size = 0;
  for (size_t i = 4; i > 0; --i) {
    size = size << 8U | static_cast<unsigned char>(compressed[compressed.size() - 5 + i]);
  }
  return size;
}

template <class Bound, class Compress>
std::string compressed_by(const Bound& bound, const Compress& compress, std::string_view content,
                          int level) {
  const std::unique_ptr<libdeflate_compressor, void (*)(libdeflate_compressor*)> deflater(
      libdeflate_alloc_compressor(level), &libdeflate_free_compressor);
  if (!deflater) throw std::bad_alloc();
  std::string out(bound(deflater.get(), content.size()), '\0');
  out.resize(compress(deflater.get(), content.data(), content.size(), out.data(), out.size()));
  return out;
}

}  // namespace

std::optional<std::string> gunzip_small(std::string_view compressed) {
  constexpr size_t kSmallestGzip = 18;
  if (compressed.size() < kSmallestGzip) return std::nullopt;
  const std::unique_ptr<libdeflate_decompressor, void (*)(libdeflate_decompressor*)> inflater(
      libdeflate_alloc_decompressor(), &libdeflate_free_decompressor);
  if (!inflater || stated_size(compressed) > kLargestGzipBlock) return std::nullopt;

  std::string content(stated_size(compressed) + 1, '\0');
  size_t filled = 0;
  while (!compressed.empty()) {
    size_t consumed = 0;
    size_t produced = 0;
    const auto status = libdeflate_gzip_decompress_ex(
        inflater.get(), compressed.data(), compressed.size(), content.data() + filled,
        content.size() - filled, &consumed, &produced);
    if (status == LIBDEFLATE_INSUFFICIENT_SPACE && content.size() < kLargestGzipBlock) {
      content.resize(std::min(content.size() * 2, kLargestGzipBlock));
      continue;
    }
    if (status != LIBDEFLATE_SUCCESS) return std::nullopt;
    filled += produced;
    compressed.remove_prefix(consumed);
  }
  content.resize(filled);
  return content;
}

std::string zlib_compressed(std::string_view content, int level) {
  return compressed_by(libdeflate_zlib_compress_bound, libdeflate_zlib_compress, content, level);
}

std::string gzip_compressed(std::string_view content, int level) {
  return compressed_by(libdeflate_gzip_compress_bound, libdeflate_gzip_compress, content, level);
}

std::optional<std::string> zlib_decompressed(std::string_view stream, size_t size) {
  constexpr size_t kLargestRatio = 1032;  // deflate's maximum: a larger ratio means a damaged size
  if (size / kLargestRatio > stream.size()) return std::nullopt;
  const std::unique_ptr<libdeflate_decompressor, void (*)(libdeflate_decompressor*)> inflater(
      libdeflate_alloc_decompressor(), &libdeflate_free_decompressor);
  if (!inflater) throw std::bad_alloc();
  std::string out(size, '\0');
  const auto status = libdeflate_zlib_decompress(inflater.get(), stream.data(), stream.size(),
                                                 out.data(), out.size(), nullptr);
  if (status != LIBDEFLATE_SUCCESS) return std::nullopt;
  return out;
}

}  // namespace llmprof
