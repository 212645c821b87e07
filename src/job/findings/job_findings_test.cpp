#include "job/findings/job_findings.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "testing/job_parts.h"

namespace llmprof::job {
namespace {

using profile::FindingKind;

profile::Kernel kernel_in_decode(double total_ms, bool experts) {
  profile::Kernel kernel;
  kernel.experts = experts;
  kernel.measured.emplace();
  kernel.measured->total = profile::Milliseconds{total_ms};
  profile::TimeInStage time;
  time.steady_total = profile::Milliseconds{total_ms};
  kernel.stages.emplace_back("decode", time);
  return kernel;
}

// Rank 1 spends 3 ms on its experts, rank 0 1 ms; other kernels are equally long.
std::vector<RankPart> with_uneven_experts() {
  std::vector<RankPart> parts = uneven_job().make();
  for (RankPart& part : parts) {
    part.profile.kernels = {kernel_in_decode(part.identity.rank == 1 ? 3 : 1, true),
                            kernel_in_decode(20, false)};
  }
  return parts;
}

TEST(ExpertTimes, AreThoseOfExpertKernels) {
  const std::vector<RankPart> parts = with_uneven_experts();
  for (const auto& stage : {std::optional<std::string>(), std::optional<std::string>("decode")}) {
    const ExpertTimes times = expert_times(parts, stage);
    EXPECT_EQ(times.by_part, (std::vector<double>{1, 3}));
    EXPECT_EQ(times.longest, 1);
    EXPECT_DOUBLE_EQ(times.imbalance, 1.5);
  }
  EXPECT_EQ(expert_times(parts, "prefill").imbalance, 0);
}

TEST(JobFindings, NameTheRankWithTheMostExpertWork) {
  const RankComparison found = compared(with_uneven_experts());
  EXPECT_EQ(found.job.expert_imbalance, 1.5);
  const auto finding =
      std::ranges::find(found.findings, FindingKind::expert_imbalance, &profile::Finding::kind);
  ASSERT_NE(finding, found.findings.end());
  EXPECT_EQ(finding->stage, "decode");
  // Evenly spread, each rank would take 2 ms.
  EXPECT_DOUBLE_EQ(finding->total_saving->value, 1);
}

// All ranks serve the same requests: the unit is that of the reference rank's findings.
TEST(JobFindings, CoverWhatTheReferenceRankTraced) {
  std::vector<RankPart> parts = with_uneven_experts();
  const auto units = [](const std::vector<RankPart>& of) {
    std::vector<std::pair<std::string, bool>> seen;
    for (const auto& each : compared(of).findings) {
      seen.emplace_back(each.unit.value_or(""), each.traced_part);
    }
    return seen;
  };
  EXPECT_EQ(units(parts).at(0), std::pair(std::string("request"), false));
  for (RankPart& part : parts) {
    profile::Finding& own = part.profile.findings.emplace_back();
    own.stage = "decode";
    own.unit = "traced part of a request";
    own.traced_part = true;
  }
  EXPECT_EQ(units(parts).at(0), std::pair(std::string("traced part of a request"), true));
}

}  // namespace
}  // namespace llmprof::job
