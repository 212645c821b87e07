#include "base/streams/byte_stream.h"

#include <gtest/gtest.h>

#include "testing/temporary_folder.h"

namespace llmprof {
namespace {

TEST(BytesRead, CountsWhatStreamsTakeFromFiles) {
  const testing::TemporaryFolder folder;
  const auto path = folder.write("plain.txt", std::string(100'000, 'x'));
  const uint64_t before = bytes_read();
  const auto stream = open_byte_stream(path);
  ASSERT_TRUE(stream);
  std::string half(50'000, ' ');
  ASSERT_TRUE((*stream)->read(half));
  EXPECT_EQ(bytes_read() - before, 50'000U);
  ASSERT_TRUE(read_all(**stream, 1UL << 20U));
  EXPECT_EQ(bytes_read() - before, 100'000U);
}

}  // namespace
}  // namespace llmprof
