#include "analysis/detection/repeats.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace llmprof::analysis {
namespace {

using Sequence = std::vector<uint32_t>;

void append_run(Sequence& sequence, uint32_t first, uint32_t count) {
  for (uint32_t i = 0; i < count; ++i) sequence.push_back(first + i);
}

// A pass: 3 kernels, 6 layers of 10, 4 kernels.
void append_pass(Sequence& sequence) {
  append_run(sequence, 100, 3);
  for (int layer = 0; layer < 6; ++layer) append_run(sequence, 200, 10);
  append_run(sequence, 300, 4);
}

size_t count_of(const std::vector<RepeatedStretch>& found, uint32_t period, uint32_t count) {
  return static_cast<size_t>(
      std::count_if(found.begin(), found.end(), [&](const RepeatedStretch& stretch) {
        return stretch.period == period && stretch.count == count;
      }));
}

TEST(RepeatsTest, LayersWithinPassesWithinALoop) {
  Sequence sequence;
  append_run(sequence, 1000, 50);
  for (int pass = 0; pass < 8; ++pass) append_pass(sequence);
  append_run(sequence, 2000, 50);
  const auto found = find_repeats(sequence);
  EXPECT_EQ(count_of(found, 10, 6), 8U);
  ASSERT_EQ(count_of(found, 67, 8), 1U);
  const auto loop = std::find_if(found.begin(), found.end(),
                                 [](const RepeatedStretch& s) { return s.period == 67; });
  EXPECT_EQ(loop->begin, 50U);
  EXPECT_EQ(loop->end, 50U + 8 * 67);
  EXPECT_EQ(loop->agreement, 1.0);
}

TEST(RepeatsTest, AFewKernelsMayDiffer) {
  Sequence sequence;
  append_run(sequence, 1000, 30);
  for (uint32_t layer = 0; layer < 12; ++layer) {
    append_run(sequence, 200, 20);
    if (layer % 4 == 3) sequence[sequence.size() - 5] = 999;  // another variant
  }
  const auto found = find_repeats(sequence);
  EXPECT_EQ(count_of(found, 20, 12), 1U);
}

TEST(RepeatsTest, BurstsAndSmallLoopsAreNone) {
  Sequence sequence;
  append_run(sequence, 1000, 20);
  for (int i = 0; i < 5000; ++i) sequence.push_back(7);
  for (int i = 0; i < 5000; ++i) append_run(sequence, 8, 2);
  append_run(sequence, 2000, 20);
  EXPECT_TRUE(find_repeats(sequence).empty());
  EXPECT_TRUE(find_repeats({}).empty());
}

}  // namespace
}  // namespace llmprof::analysis
