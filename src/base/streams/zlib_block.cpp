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

}  // namespace llmprof
