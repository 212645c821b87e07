#include <gtest/gtest.h>

#include "job/collectives/match.h"
#include "testing/job_parts.h"

namespace llmprof::job {
namespace {

// Ends as irregular as in real programs, `offset` later on this rank's clock.
LaneCalls compared_from(uint32_t first, uint32_t count, Nanoseconds offset, bool numbered) {
  LaneCalls made;
  Nanoseconds end = 0;
  for (uint32_t n = 0; n < first + count; ++n) {
    end += 100'000 + static_cast<Nanoseconds>((n * 2654435761U) >> 16U) % 90'000;
    if (n < first) continue;
    made.token.push_back(n % 3);
    made.end.push_back(end + offset);
    if (numbered) made.sequence.push_back(n);
  }
  return made;
}

TEST(AlignSequences, GoesByTheGroupsOwnNumbers) {
  const LaneCalls first = compared_from(0, 20, 0, true);
  const auto match = align_sequences(first, compared_from(5, 10, 7'000, true), std::nullopt);
  ASSERT_EQ(match.size(), 20U);
  EXPECT_EQ(match[4], kNoRow);
  EXPECT_EQ(match[5], 0U);
  EXPECT_EQ(match[14], 9U);
  EXPECT_EQ(match[15], kNoRow);
}

TEST(AlignSequences, FindsHowMuchLaterACaptureBegan) {
  const LaneCalls first = compared_from(0, 200, 0, false);
  const auto match =
      align_sequences(first, compared_from(30, 150, -3'000'000, false), std::nullopt);
  for (uint32_t i = 0; i < 200; ++i) {
    EXPECT_EQ(match[i], i < 30 || i >= 180 ? kNoRow : i - 30) << i;
  }
}

TEST(AlignByTime, PassesOverWhatOneCaptureLost) {
  const LaneCalls first = compared_from(0, 100, 0, false);
  LaneCalls second = first;
  for (const std::ptrdiff_t lost : {70, 40}) {
    second.token.erase(second.token.begin() + lost);
    second.end.erase(second.end.begin() + lost);
  }
  const auto match = align_by_time(first, second, RoughClock{0, 1'000'000, true});
  EXPECT_EQ(match[39], 39U);
  EXPECT_EQ(match[40], kNoRow);
  EXPECT_EQ(match[41], 40U);
  EXPECT_EQ(match[70], kNoRow);
  EXPECT_EQ(match[99], 97U);
  EXPECT_EQ(pairs_that_fit(first, second, match), 98U);
}

TEST(Members, AreReadInAnySpelling) {
  EXPECT_EQ(parse_members("2,0,1"), (std::vector<uint64_t>{0, 1, 2}));
  EXPECT_EQ(parse_members("[0, 8, 8]"), (std::vector<uint64_t>{0, 8}));
  EXPECT_TRUE(parse_members("all").empty());
  EXPECT_TRUE(parse_members("").empty());
}

TEST(Lanes, AreOneForEachGroup) {
  TestJob job;
  job.ranks = 4;
  const std::vector<RankPart> parts = job.make();
  const Lanes together = find_lanes(parts, {});
  ASSERT_EQ(together.groups.size(), 1U);
  EXPECT_EQ(together.groups[0].name, "tp");
  EXPECT_EQ(together.groups[0].size, 4U);
  const Lanes pairs = find_lanes(parts, {2, std::nullopt, std::nullopt});
  ASSERT_EQ(pairs.groups.size(), 2U);
  EXPECT_EQ(pairs.groups[0].name, "tp (0,1)");
  EXPECT_EQ(pairs.groups[1].parts, (std::vector<uint32_t>{2, 3}));
}

TEST(Match, HasWhatAllRanksOfALaneHave) {
  TestJob job;
  std::vector<RankPart> parts = job.make();
  cut(parts[1], 16, 144);
  const auto matched = match_collectives(parts, find_lanes(parts, {}));
  ASSERT_EQ(matched.size(), 1U);
  EXPECT_EQ(matched[0].size(), 128U);
  EXPECT_EQ(matched[0].row(0, 0), 16U);
  EXPECT_EQ(matched[0].row(0, 1), 0U);
  const auto moments = same_moments(parts, matched);
  ASSERT_EQ(moments.size(), 1U);
  EXPECT_EQ(moments[0].on_first, moments[0].on_second);
  const auto steps = same_steps(parts, matched);
  ASSERT_EQ(steps.size(), 1U);
  EXPECT_EQ(steps[0].steps.front(), (std::pair<uint32_t, uint32_t>{2, 0}));
  EXPECT_EQ(steps[0].steps.size(), 16U);
}

}  // namespace
}  // namespace llmprof::job
