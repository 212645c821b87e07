#include "session/bundle/records.h"

#include <gtest/gtest.h>

#include "testing/temporary_folder.h"

namespace llmprof::session {
namespace {

TEST(CapturesRecord, IsReadAsItWasWritten) {
  const testing::TemporaryFolder folder;
  const Artifacts bundle(folder.path());
  CapturesRecord record;
  record.failures = {{"nsys", "it said \"no\"\n  and more"}, {"run", "interrupted"}};
  record.notes.warn("lost", "a kernel", 3);
  record.notes.info("resumed", "decode");
  write_captures_record(bundle, record);
  Diagnostics trouble;
  const CapturesRecord read = read_captures_record(folder.path(), trouble);
  EXPECT_TRUE(trouble.items().empty());
  ASSERT_EQ(read.failures.size(), 2U);
  EXPECT_EQ(read.failures[0].backend, "nsys");
  EXPECT_EQ(read.failures[0].message, record.failures[0].message);
  ASSERT_EQ(read.notes.items().size(), 2U);
  EXPECT_EQ(read.notes.items()[0].severity, Severity::warning);
  EXPECT_EQ(read.notes.items()[0].code, "lost");
  EXPECT_EQ(read.notes.items()[0].message, "a kernel");
  EXPECT_EQ(read.notes.items()[0].count, 3U);
  EXPECT_EQ(read.notes.items()[1].severity, Severity::info);
}

TEST(CapturesRecord, IsEmptyWhereThereIsNone) {
  const testing::TemporaryFolder folder;
  Diagnostics trouble;
  EXPECT_TRUE(read_captures_record(folder.path(), trouble).failures.empty());
  EXPECT_TRUE(trouble.items().empty());
  folder.write("captures.json", "{\"failed\": [");
  EXPECT_TRUE(read_captures_record(folder.path(), trouble).failures.empty());
  EXPECT_TRUE(trouble.has("captures_record_unreadable"));
}

}  // namespace
}  // namespace llmprof::session
