#include "base/streams/deflate.h"

#include <gtest/gtest.h>
#include <zlib.h>

namespace llmprof {
namespace {

std::string inflated(std::string_view stream, size_t size) {
  std::string out(size, '\0');
  uLongf length = size;
  const int status = uncompress(reinterpret_cast<Bytef*>(out.data()), &length,
                                reinterpret_cast<const Bytef*>(stream.data()), stream.size());
  EXPECT_EQ(status, Z_OK);
  out.resize(length);
  return out;
}

TEST(ZlibBlock, ZlibReadsItBack) {
  const std::string text(100'000, 'a');
  for (const int level : {1, 6, 12}) {
    const std::string stream = zlib_compressed(text, level);
    EXPECT_LT(stream.size(), 1000U);
    EXPECT_EQ(inflated(stream, text.size()), text);
  }
}

TEST(GzipBlock, GivesItsContentBack) {
  for (const std::string& text : {std::string(), std::string(100'000, 'a')}) {
    EXPECT_EQ(gunzip_small(gzip_compressed(text, 6)), text);
  }
}

TEST(ZlibBlock, AnEmptyContentIsAStream) { EXPECT_EQ(inflated(zlib_compressed("", 6), 1), ""); }

}  // namespace
}  // namespace llmprof
