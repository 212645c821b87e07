#include "cpu_llm/pass.h"

#include <gtest/gtest.h>

namespace cpu_llm {
namespace {

// A prompt's chunk, two sequences in decode, and the last chunk of another prompt.
Pass mixed() {
  return Pass({{.sequence = 4, .cached = 2, .added = 3, .wants_logits = false},
               {.sequence = 0, .cached = 9, .added = 1},
               {.sequence = 2, .cached = 4, .added = 1},
               {.sequence = 1, .cached = 3, .added = 2}});
}

TEST(Pass, RowsAreChunkAfterChunk) {
  const Pass pass = mixed();
  ASSERT_EQ(pass.rows(), 7U);
  EXPECT_EQ(pass.first_row(0), 0U);
  EXPECT_EQ(pass.first_row(3), 5U);
  EXPECT_EQ(pass.row(2).sequence, 4U);
  EXPECT_EQ(pass.row(2).position, 4U);
  EXPECT_EQ(pass.row(3).sequence, 0U);
  EXPECT_EQ(pass.row(3).position, 9U);
  EXPECT_EQ(pass.row(6).sequence, 1U);
  EXPECT_EQ(pass.row(6).position, 4U);
}

TEST(Pass, LogitsAreThoseOfLastRows) {
  EXPECT_EQ(mixed().rows_with_logits(), (std::vector<size_t>{3, 4, 6}));
  EXPECT_EQ(Pass(2, 3, 5).rows_with_logits(), (std::vector<size_t>{2, 5}));
}

TEST(Pass, OneTokenPerChunkIsADecode) {
  EXPECT_FALSE(mixed().only_decodes());
  EXPECT_FALSE(Pass(2, 3, 5).only_decodes());
  EXPECT_TRUE(Pass(2, 1, 5).only_decodes());
}

// Positions 2, 3, 4; 9; 4; 3, 4.
TEST(Pass, PositionsThatChunksShareCountOnce) {
  EXPECT_EQ(mixed().distinct_positions(), 4U);
  EXPECT_EQ(Pass(2, 3, 5).distinct_positions(), 3U);
}

}  // namespace
}  // namespace cpu_llm
