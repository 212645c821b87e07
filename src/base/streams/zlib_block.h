#pragma once

#include <memory>
#include <string>
#include <string_view>

struct libdeflate_compressor;

namespace llmprof {

// Compresses blocks of bytes, each into one zlib stream (RFC 1950).
class ZlibBlocks {
 public:
  explicit ZlibBlocks(int level);  // libdeflate's, 0 to 12
  [[nodiscard]] std::string compress(std::string_view block) const;

 private:
  std::unique_ptr<libdeflate_compressor, void (*)(libdeflate_compressor*)> deflater_;
};

}  // namespace llmprof
