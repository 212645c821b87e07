#include <gtest/gtest.h>

#include <random>

#include "job/packed/packed_collectives.h"
#include "job/packed/packed_columns.h"

namespace llmprof::job {
namespace {

using analysis::Collectives;

void expect_back(const std::vector<Nanoseconds>& numbers) {
  PackedTimes packed;
  for (const Nanoseconds number : numbers) packed.push_back(number);
  ASSERT_EQ(packed.size(), numbers.size());
  EXPECT_EQ(packed.unpacked(), numbers);
  packed.shrink();
  EXPECT_EQ(packed.unpacked(), numbers);
}

// Of each number of bits, over blocks that are full, and one that is not.
TEST(Packed, NumbersOfAnyWidthComeBack) {
  std::mt19937_64 chance(7);
  for (unsigned bits = 0; bits <= 64; ++bits) {
    for (const bool some_missing : {false, true}) {
      std::vector<Nanoseconds> numbers;
      for (int i = 0; i < 300; ++i) {
        const uint64_t number = bits == 0 ? 0 : chance() >> (64 - bits);
        numbers.push_back(static_cast<Nanoseconds>(number - 5));
        if (some_missing && i % 9 == 0) numbers.back() = Collectives::kNotKnown;
      }
      expect_back(numbers);
    }
  }
}

TEST(Packed, ExtremesComeBack) {
  const std::vector<Nanoseconds> extremes = {INT64_MIN, INT64_MAX, 0, -1, 1, INT64_MIN + 1};
  std::vector<Nanoseconds> all;
  for (int i = 0; i < 100; ++i) all.insert(all.end(), extremes.begin(), extremes.end());
  expect_back(all);
  expect_back(std::vector<Nanoseconds>(1000, INT64_MIN));
  expect_back(std::vector<Nanoseconds>(1000, INT64_MAX));
  expect_back({});
  // A whole block between its least and most, of which none is the word for missing.
  std::vector<Nanoseconds> ramp;
  for (int i = 0; i < 256; ++i) ramp.push_back(i % 128);
  expect_back(ramp);
}

TEST(Packed, RowsComeBack) {
  PackedRows rows;
  std::vector<uint32_t> plain;
  std::mt19937_64 chance(11);
  for (uint32_t i = 0; i < 1000; ++i) {
    plain.push_back(i < 400 ? i : (chance() % 5 == 0 ? kNoRow : static_cast<uint32_t>(chance())));
    rows.push_back(plain.back());
  }
  for (size_t i = 0; i < plain.size(); ++i) EXPECT_EQ(rows[i], plain[i]) << i;
}

TEST(Packed, CollectivesComeBack) {
  std::mt19937_64 chance(13);
  Collectives plain;
  plain.keys.resize(3);
  plain.keys[1].group = "tp";
  for (uint32_t i = 0; i < 1000; ++i) {
    plain.start.push_back(static_cast<Nanoseconds>(i * 30'000 + chance() % 1000) - 500);
    plain.end.push_back(plain.start.back() + static_cast<Nanoseconds>(chance() % 9000));
    plain.launched.push_back(i % 3 == 0 ? Collectives::kNotKnown : plain.start.back() - 5000);
    plain.exposed.push_back(plain.end.back() - plain.start.back() - (i % 7 == 0 ? 50 : 0));
    plain.busy_before.push_back(static_cast<Nanoseconds>(chance() % 20'000));
    plain.key.push_back(i % 3);
    plain.step.push_back(i % 11 == 0 ? Collectives::kNoStep : i / 8);
    plain.sequence.push_back(i % 5 == 0 ? trace::kNoSequence : i);
    plain.in_graph.push_back(i % 2);
  }
  const PackedCollectives packed{Collectives(plain)};
  ASSERT_EQ(packed.size(), plain.size());
  for (size_t row = 0; row < plain.size(); ++row) {
    EXPECT_EQ(packed.start(row), plain.start[row]);
    EXPECT_EQ(packed.end(row), plain.end[row]);
    EXPECT_EQ(packed.duration(row), plain.end[row] - plain.start[row]);
    EXPECT_EQ(packed.launched(row), plain.launched[row]);
    EXPECT_EQ(packed.exposed(row), plain.exposed[row]);
    EXPECT_EQ(packed.busy_before(row), plain.busy_before[row]);
    EXPECT_EQ(packed.key(row), plain.key[row]);
    EXPECT_EQ(packed.step(row), plain.step[row]);
    EXPECT_EQ(packed.sequence(row), plain.sequence[row]);
    EXPECT_EQ(packed.in_graph(row), plain.in_graph[row] != 0);
  }
  EXPECT_EQ(packed.unpacked().end, plain.end);
  EXPECT_EQ(packed.keys, plain.keys);
}

}  // namespace
}  // namespace llmprof::job
