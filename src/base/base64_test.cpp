#include "base/text.h"

#include <gtest/gtest.h>

namespace llmprof {
namespace {

std::string base64(std::string_view bytes) {
  std::string out;
  append_base64(out, bytes);
  return out;
}

// Examples from RFC 4648.
TEST(Base64, PadsTheLastGroup) {
  EXPECT_EQ(base64(""), "");
  EXPECT_EQ(base64("f"), "Zg==");
  EXPECT_EQ(base64("fo"), "Zm8=");
  EXPECT_EQ(base64("foo"), "Zm9v");
  EXPECT_EQ(base64("foobar"), "Zm9vYmFy");
}

TEST(Base64, BytesAreNotSigned) { EXPECT_EQ(base64("\xff\xfe\xfd"), "//79"); }

}  // namespace
}  // namespace llmprof
