#include "readers/shared/reader.h"

#include <gtest/gtest.h>

#include <fstream>

#include "testing/readers/collector_log.h"
#include "testing/temporary_folder.h"

namespace llmprof::readers {
namespace {

std::optional<LogEnd> end_of(const std::string& bytes) {
  const testing::TemporaryFolder folder;
  const auto file = folder.path() / "rank1-4711.llmtrace";
  std::ofstream(file, std::ios::binary) << bytes;
  return read_log_end(file);
}

TEST(LogEnd, OfAProcessThatExited) {
  testing::TestLog log;
  log.add(wire::RecordType::dropped, wire::Dropped{1, 1});
  log.add(wire::RecordType::clean_end, wire::CleanEnd{9, 0, 1});
  log.thread_chunk(1, 7);
  const auto end = end_of(log.bytes());
  ASSERT_TRUE(end);
  EXPECT_TRUE(end->by_exit);
  EXPECT_EQ(end->process, 4711U);
}

TEST(LogEnd, OfAProcessThatWasKilled) {
  testing::TestLog log;
  log.thread_chunk(1, 7);
  const auto end = end_of(log.bytes());
  ASSERT_TRUE(end);
  EXPECT_FALSE(end->by_exit);
  EXPECT_FALSE(end_of(log.bytes().substr(0, 300))->by_exit) << "cut off within the chunk";
}

TEST(LogEnd, OfNoLog) {
  EXPECT_FALSE(end_of(""));
  EXPECT_FALSE(end_of("LLMTRACE"));
  EXPECT_FALSE(end_of(std::string(4096, 'x')));
  EXPECT_FALSE(read_log_end("/no/such/file"));
}

}  // namespace
}  // namespace llmprof::readers
