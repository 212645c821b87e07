#include "report/sections/sections.h"

#include <gtest/gtest.h>

#include "report/writers/writers.h"
#include "testing/shown.h"

namespace llmprof::report {
namespace {

using profile::FindingValues;
using profile::make_reason;
using profile::Milliseconds;
using profile::ReasonKind;
using profile::Share;

profile::RankStage decode(double compute, double wait) {
  profile::RankStage stage;
  stage.stage = "decode";
  stage.wall = {2.64};
  stage.compute = {compute};
  stage.transfer = {0.24};
  stage.wait = {wait};
  stage.caused_wait = {compute > 2 ? 0.8 : 0.0};
  stage.steps = 18;
  return stage;
}

// Two of four ranks; rank 1 computes for longer, rank 3 died.
profile::Profile two_ranks() {
  profile::Profile profile;
  profile::Job& job = profile.job.emplace();
  job.id = "4711";
  job.world_size = 4;
  job.recorded = 3;
  job.hosts = 2;
  job.missing = {2};
  job.died = {3};
  job.lower_bound = true;
  job.steps_matched = 18;
  profile::RankGroup& group = job.groups.emplace_back();
  group.group = "tp";
  group.ranks = {0, 1};
  group.size = 4;
  group.parallelism = profile::Parallelism::tensor;
  group.why = {
      make_reason(ReasonKind::collectives_in_each_layer, FindingValues().add("per_step", 8))};
  profile::JobCollective& collective = job.collectives.emplace_back();
  collective.stage = "decode";
  collective.group = "tp";
  collective.kind = CollectiveKind::all_reduce;
  collective.bytes = profile::Bytes{16384};
  collective.matched = 144;
  collective.latency.p50 = Milliseconds{0.03};
  collective.wait.mean = Milliseconds{0.1};
  collective.last_rank = 1;
  collective.last_rank_share = Share{1};
  profile::Straggler& straggler = job.stragglers.emplace_back();
  straggler.rank = 1;
  straggler.stage = "decode";
  straggler.cause = profile::StragglerCause::longer_kernels;
  straggler.wait_per_step = {0.8};
  straggler.wait_total = {14.4};
  straggler.share_of_step = Share{0.303};
  straggler.last_share = {1};
  straggler.why = {
      make_reason(ReasonKind::rank_busy_longer, FindingValues()
                                                    .add("busy", Milliseconds{2.4})
                                                    .add("busy_of_others", Milliseconds{1.6})
                                                    .add("longer", Milliseconds{0.8})
                                                    .add("by_step", true))};
  for (const uint64_t number : {0U, 1U, 3U}) {
    profile::Rank& rank = profile.ranks.emplace_back();
    rank.rank = number;
    rank.host = "node";
    rank.clock.emplace().method =
        number == 0 ? profile::ClockMethod::reference : profile::ClockMethod::collectives;
    if (number < 2) rank.between.push_back(number == 1 ? decode(2.4, 0) : decode(1.6, 0.8));
  }
  profile.ranks[1].clock->offset_ns = {300'000};
  profile.ranks[1].clock->drift_ppm = 20;
  profile.ranks[1].clock->residual_max = Milliseconds{0.001};
  profile.ranks[2].state = profile::RankState::died;
  profile.ranks[2].state_detail = "signal 9";
  return testing::shown(std::move(profile));
}

std::string section(const profile::Profile& profile) {
  Document document;
  add_section(Topic<"job">(), profile, document);
  return to_markdown(document);
}

TEST(JobSections, AreEmptyWithoutAJob) {
  EXPECT_EQ(section({}), to_markdown(Document()));
  EXPECT_TRUE(texts_of(job_summary({})).empty());
  EXPECT_EQ(straggler_sentence({}), "");
}

TEST(JobSections, NameTheStraggler) {
  EXPECT_EQ(straggler_sentence(two_ranks()),
            "Other ranks wait for rank 1 in decode, 0.8000 ms per step (30.3 % of the job's step): "
            "when it arrives last, its kernels take 0.8000 ms per step longer (2.4000 ms per step "
            "between collectives; mean of the others 1.6000 ms).");
  const auto sentences = texts_of(job_summary(two_ranks()));
  ASSERT_EQ(sentences.size(), 4);
  EXPECT_EQ(sentences[0], "Job of 4 ranks (4711) on 2 hosts, 3 recorded: tensor parallelism of 4.");
  EXPECT_EQ(sentences[1], "Ended before the program did: rank 3.");
  EXPECT_EQ(sentences[2], "Not recorded: rank 2; waits are lower bounds.");
}

TEST(JobSections, DescribeTheHeatMap) {
  profile::Heat heat;
  for (const uint64_t rank : {0U, 1U, 2U}) {
    profile::HeatRow& row = heat.rows.emplace_back();
    row.rank = rank;
    row.share_above_median = Share{0.01 * static_cast<double>(rank)};
  }
  heat.median_ms = {1, 1, 1};
  EXPECT_EQ(heat_sentence(heat),
            "3 ranks by 3 steps. Rank 2's own time is 2.0 % above the median rank's on average.");
  heat.rows[2].share_above_median.reset();
  heat.steps_per_bin = 4;
  EXPECT_EQ(heat_sentence(heat),
            "3 ranks by 3 bins of 4 steps. No rank's own time is 1 % above the median rank's on "
            "average.");
}

TEST(JobSections, ListRanksCollectivesAndClocks) {
  const std::string text = section(two_ranks());
  for (const std::string_view part :
       {"## Ranks", "Rank 3 ended before the program did (signal 9).", "No capture of rank 2",
        "### Stragglers", "longer kernels", "### Time of each rank", "2.4000", "### Groups",
        "8 collectives per step, so probably in every layer", "### Collectives", "all-reduce",
        "16.38 kB", "rank 1 (100.0 %)", "### Clocks", "ends of collectives", "0.300000", "20.00",
        "0.001000"}) {
    EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
  }
  profile::Profile calm = two_ranks();
  calm.job->stragglers.clear();
  EXPECT_NE(section(calm).find("no rank delays the others much more"), std::string::npos);
  calm.job->why_not = "only one rank was recorded";
  EXPECT_NE(section(calm).find("Waits are unknown: only one rank was recorded."),
            std::string::npos);
  for (profile::Rank& rank : calm.ranks) rank.between.clear();
  EXPECT_NE(section(calm).find("The ranks have no step in common."), std::string::npos);
}

}  // namespace
}  // namespace llmprof::report
