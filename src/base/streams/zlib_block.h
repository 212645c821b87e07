#pragma once

#include <string>
#include <string_view>

namespace llmprof {

// A whole zlib stream (RFC 1950). `level` is libdeflate's, 0 to 12.
std::string zlib_compressed(std::string_view content, int level);

}  // namespace llmprof
