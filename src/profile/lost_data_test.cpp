#include "profile/lost_data.h"

#include <gtest/gtest.h>

namespace llmprof::profile {
namespace {

std::vector<std::string> codes(const Profile& profile) {
  std::vector<std::string> found;
  for (const Diagnostic& lost : lost_data(profile)) found.push_back(lost.code);
  return found;
}

TEST(LostData, IsWhatDiagnosticsSayByTheirCodes) {
  Profile profile;
  profile.totals.source = KernelSource::timeline;
  profile.diagnostics = {{Severity::warning, "collector_cupti_dropped", "why", 7},
                         {Severity::info, "launches_without_kernels", "few", 1},
                         {Severity::warning, "launches_without_kernels", "many", 1},
                         {Severity::warning, "kernels_without_launch", "harmless", 3},
                         {Severity::error, "nsys_says", "might", 1},
                         {Severity::warning, "ncu_bad_rows", "beside", 2},
                         {Severity::warning, "of_a_later_version", "?", 1},
                         {Severity::error, "lost_in_a_later_version", "?", 1}};
  EXPECT_EQ(codes(profile),
            (std::vector<std::string>{"collector_cupti_dropped", "launches_without_kernels",
                                      "lost_in_a_later_version"}));
  EXPECT_EQ(lost_data(profile).front().count, 7U);
}

TEST(LostData, OfNcuMattersWhereTimesAreItsOwn) {
  Profile profile;
  profile.diagnostics = {{Severity::warning, "ncu_bad_rows", "why", 2}};
  profile.totals.source = KernelSource::profiler;
  EXPECT_EQ(codes(profile), (std::vector<std::string>{"ncu_bad_rows"}));
}

TEST(LostData, IsARecordingThatFailed) {
  Profile profile;
  profile.captures_failed = {{"ncu", "not installed"}, {"torch", "no"}, {"stage1", "failed"}};
  EXPECT_TRUE(lost_data(profile).empty());
  profile.captures_failed.push_back({"nsys", "interrupted"});
  EXPECT_EQ(codes(profile), (std::vector<std::string>{"capture_failed"}));
  // The timeline is the collector's.
  profile.context.captures.emplace_back().format = CaptureFormat::collector_log;
  EXPECT_TRUE(lost_data(profile).empty());
  profile.captures_failed.push_back({"rank 3", "died"});
  EXPECT_EQ(lost_data(profile).front().message, "rank 3: died");
}

}  // namespace
}  // namespace llmprof::profile
