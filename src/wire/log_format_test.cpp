#include "wire/log_format.h"

#include <gtest/gtest.h>

#include <array>
#include <set>

namespace llmprof::wire {
namespace {

// The layout is a contract with existing logs.
TEST(LogFormat, LayoutStaysAsItIs) {
  EXPECT_EQ(sizeof(FileHeader), 256U);
  EXPECT_EQ(offsetof(FileHeader, process_id), 24U);
  EXPECT_EQ(offsetof(FileHeader, monotonic_ns), 40U);
  EXPECT_EQ(offsetof(FileHeader, executable), 56U);
  EXPECT_EQ(offsetof(FileHeader, boot_id), 200U);
  EXPECT_EQ(offsetof(FileHeader, time_namespace), 216U);
  EXPECT_EQ(offsetof(FileHeader, checksum), 248U);
  EXPECT_EQ(sizeof(ChunkHeader), 32U);
  EXPECT_EQ(record_bytes<ThreadInfo>(), 32);
  EXPECT_EQ(record_bytes<RangePush>(), 32);
  EXPECT_EQ(record_bytes<RangePop>(), 24);
  EXPECT_EQ(record_bytes<RangeStart>(), 32);
  EXPECT_EQ(record_bytes<RangeEnd>(), 24);
  EXPECT_EQ(record_bytes<Mark>(), 24);
  EXPECT_EQ(record_bytes<Step>(), 32);
  EXPECT_EQ(record_bytes<CpuOperator>(), 48);
  EXPECT_EQ(record_bytes<Collective>(), 56);
  EXPECT_EQ(record_bytes<CleanEnd>(), 32);
  EXPECT_EQ(static_cast<int>(RecordType::clean_end), 11);
}

// Computed by hand with Python's integers:
//   m = 2**64 - 1; k = 0x9FB21C651E98DF25
//   s = 1 * k; s = ((s ^ 0x0102030405060708) * k) & m; s ^= s >> 32; s = (s * k) & m; s >> 32
TEST(Checksum, EqualsTheFormula) {
  const uint64_t word = 0x0102030405060708;
  EXPECT_EQ(checksum(0, &word, sizeof word), 0xC9B45697U);
}

TEST(Checksum, EveryFlippedBitTells) {
  std::array<uint64_t, 5> words = {1, 0, UINT64_MAX, 0x123456789ABCDEF0, 0};
  std::set<uint32_t> seen = {checksum(7, words.data(), sizeof words)};
  for (uint64_t& word : words) {
    for (unsigned bit = 0; bit < 64; ++bit) {
      word ^= 1ULL << bit;
      EXPECT_TRUE(seen.insert(checksum(7, words.data(), sizeof words)).second);
      word ^= 1ULL << bit;
    }
  }
}

TEST(Checksum, TypeSizeAndChunkArePartOfIt) {
  const Mark mark = {5, 1, 2};
  const auto of = [&](uint64_t sequence, RecordType type, uint16_t size) {
    return record_checksum(sequence, type, size, &mark);
  };
  const uint32_t whole = of(3, RecordType::mark, record_bytes<Mark>());
  EXPECT_NE(whole, of(4, RecordType::mark, record_bytes<Mark>()));
  EXPECT_NE(whole, of(3, RecordType::range_end, record_bytes<Mark>()));
  EXPECT_NE(whole, of(3, RecordType::mark, record_bytes<Mark>() - 8));
}

}  // namespace
}  // namespace llmprof::wire
