#include "base/streams/zlib_block.h"

#include <libdeflate.h>

#include <memory>
#include <new>

namespace llmprof {

std::string zlib_compressed(std::string_view content, int level) {
  const std::unique_ptr<libdeflate_compressor, void (*)(libdeflate_compressor*)> deflater(
      libdeflate_alloc_compressor(level), &libdeflate_free_compressor);
  if (!deflater) throw std::bad_alloc();
  std::string out(libdeflate_zlib_compress_bound(deflater.get(), content.size()), '\0');
  out.resize(libdeflate_zlib_compress(deflater.get(), content.data(), content.size(), out.data(),
                                      out.size()));
  return out;
}

std::optional<std::string> zlib_decompressed(std::string_view stream, size_t size) {
  constexpr size_t kLargestRatio = 1032;  // of deflate: more than that is a damaged size
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
