#include "base/streams/zlib_block.h"

#include <libdeflate.h>

#include <new>

namespace llmprof {

ZlibBlocks::ZlibBlocks(int level)
    : deflater_(libdeflate_alloc_compressor(level), &libdeflate_free_compressor) {
  if (!deflater_) throw std::bad_alloc();
}

std::string ZlibBlocks::compress(std::string_view block) const {
  std::string compressed(libdeflate_zlib_compress_bound(deflater_.get(), block.size()), '\0');
  compressed.resize(libdeflate_zlib_compress(deflater_.get(), block.data(), block.size(),
                                             compressed.data(), compressed.size()));
  return compressed;
}

}  // namespace llmprof
