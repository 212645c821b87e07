#include "readers/collector_log/records.h"

#include <gtest/gtest.h>

#include <string>

namespace llmprof::readers::collector_log {
namespace {

constexpr uint64_t kSequence = 3;

std::string bytes_of(const wire::RecordHeader& header) {
  return {reinterpret_cast<const char*>(&header), sizeof header};
}

std::string whole_record() {
  constexpr auto kType = wire::RecordType::mark;
  const std::string payload = "sixteen letters.";
  const auto size = static_cast<uint16_t>(sizeof(wire::RecordHeader) + payload.size());
  return bytes_of({kType, size, wire::record_checksum(kSequence, kType, size, payload.data())}) +
         payload;
}

std::string false_headers(size_t bytes, uint16_t size) {
  const std::string header = bytes_of({wire::RecordType::mark, size, 1});
  std::string all;
  while (all.size() < bytes) all += header;
  return all;
}

TEST(CollectorLogRecords, AreFoundBehindFalseHeaders) {
  const std::string bytes = false_headers(2048, 64) + whole_record() + whole_record();
  Records records(bytes, kSequence);
  Record record;
  ASSERT_TRUE(records.next(record));
  EXPECT_EQ(record.type, wire::RecordType::mark);
  EXPECT_TRUE(records.next(record));
  EXPECT_FALSE(records.next(record));
  EXPECT_EQ(records.damaged(), 1U);
}

TEST(CollectorLogRecords, AMegabyteOfFalseHeadersIsNotSearchedToItsEnd) {
  const std::string bytes = false_headers(1UL << 20U, 0xFFF8) + whole_record();
  Records records(bytes, kSequence);
  Record record;
  EXPECT_FALSE(records.next(record));
  EXPECT_EQ(records.damaged(), 1U);
  EXPECT_FALSE(records.unfinished());
}

}  // namespace
}  // namespace llmprof::readers::collector_log
