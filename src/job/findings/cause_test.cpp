#include "job/findings/job_findings.h"

#include <gtest/gtest.h>

namespace llmprof::job {
namespace {

using profile::StragglerCause;

RankAgainstOthers busy_longer() {
  RankAgainstOthers rank;
  rank.wait = 1'000'000;
  rank.busy_longer = 900'000;
  return rank;
}

TEST(StragglerCause, MoreTokensExplainLongerKernels) {
  RankAgainstOthers rank = busy_longer();
  EXPECT_EQ(find_cause(rank).cause, StragglerCause::longer_kernels);
  rank.clock = 1.4e9;
  rank.clock_of_others = 1.9e9;
  EXPECT_EQ(find_cause(rank).cause, StragglerCause::lower_clock);
  rank.tokens = 120;
  rank.tokens_of_others = 100;
  EXPECT_EQ(find_cause(rank).cause, StragglerCause::more_tokens);
  rank.tokens = 102;  // hardly more
  EXPECT_EQ(find_cause(rank).cause, StragglerCause::lower_clock);
}

TEST(StragglerCause, IsALateLaunchWhereKernelsAreAsLong) {
  RankAgainstOthers rank;
  rank.wait = 1'000'000;
  EXPECT_EQ(find_cause(rank).cause, StragglerCause::unknown);
  rank.launched_later = 800'000;
  EXPECT_EQ(find_cause(rank).cause, StragglerCause::late_launch);
  rank.on_cpu = true;  // nothing is launched on a CPU
  EXPECT_EQ(find_cause(rank).cause, StragglerCause::unknown);
}

TEST(StragglerCause, NeedsLessOfTheWaitOnACpu) {
  RankAgainstOthers rank = busy_longer();
  rank.busy_longer = 300'000;
  EXPECT_EQ(find_cause(rank).cause, StragglerCause::unknown);
  rank.on_cpu = true;
  EXPECT_EQ(find_cause(rank).cause, StragglerCause::longer_kernels);
}

}  // namespace
}  // namespace llmprof::job
