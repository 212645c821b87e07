#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "config/conf_files.h"
#include "job/links/links.h"
#include "job/profile/amounts.h"
#include "job/rank_part.h"
#include "profile/json/json.h"
#include "testing/sample_profile.h"

namespace llmprof::job {
namespace {

Links shipped_links() {
  const auto conf = config::ConfFiles::open(std::nullopt);
  EXPECT_TRUE(conf);
  auto links = Links::load(*conf);
  EXPECT_TRUE(links);
  return *links;
}

Nanoseconds nanoseconds_of(profile::Milliseconds time) { return result::exact(time); }

// A sample of a complete analysis, as rank `rank`.
RankPart part_of(uint64_t rank) {
  RankPart part;
  part.identity.rank = rank;
  part.profile = testing::full_sample();
  for (const profile::Step& step : part.profile.steps) {
    part.step_start.push_back(nanoseconds_of(step.start));
    part.step_end.push_back(nanoseconds_of(step.start) + nanoseconds_of(step.wall));
  }
  part.steps = PackedSteps(part.profile.steps);
  part.profile.steps.clear();
  return part;
}

Result<profile::Profile> merged(std::vector<RankPart> parts) {
  return merge_ranks(std::move(parts), shipped_links(), "1.2.3");
}

TEST(MergeRanks, TheOrderOfPartsDoesNotMatter) {
  const auto one = merged({part_of(0), part_of(1), part_of(2)});
  const auto other = merged({part_of(2), part_of(0), part_of(1)});
  ASSERT_TRUE(one && other);
  EXPECT_EQ(profile::to_json(*one), profile::to_json(*other));
}

TEST(MergeRanks, ShortNamesStandForOneKernel) {
  std::vector<RankPart> parts = {part_of(0), part_of(1)};
  const auto name = [](RankPart& part, size_t row, const char* full_name, const char* short_name) {
    part.profile.kernels.at(row).kernel_name = full_name;
    part.profile.kernels.at(row).short_name = short_name;
  };
  for (RankPart& part : parts) part.profile.kernels.resize(2, part.profile.kernels.at(0));
  // Only the first rank had to distinguish two kernels of one name.
  name(parts[0], 0, "f<1>(int)", "f [1]");
  name(parts[0], 1, "f<2>(int)", "f [2]");
  name(parts[1], 0, "f<2>(int)", "f");
  name(parts[1], 1, "f<3>(int)", "f [1]");
  const auto job = merged(std::move(parts));
  ASSERT_TRUE(job) << job.error().message;
  std::map<std::string, std::set<std::string>> short_names;
  std::map<std::string, std::set<std::string>> full_names;
  for (const profile::Kernel& kernel : job->kernels) {
    short_names[kernel.kernel_name].insert(kernel.short_name);
    full_names[kernel.short_name].insert(kernel.kernel_name);
  }
  EXPECT_EQ(short_names.size(), 3U);
  for (const auto& [full_name, names] : short_names) EXPECT_EQ(names.size(), 1U) << full_name;
  for (const auto& [short_name, names] : full_names) EXPECT_EQ(names.size(), 1U) << short_name;
  EXPECT_EQ(*short_names["f<2>(int)"].begin(), "f [2]");
}

TEST(MergeRanks, EqualRanksHaveTheTimesOfOne) {
  const profile::Profile single = testing::full_sample();
  const auto job = merged({part_of(0), part_of(1)});
  ASSERT_TRUE(job) << job.error().message;
  EXPECT_EQ(job->tool.version, "1.2.3");
  ASSERT_EQ(job->stages.size(), single.stages.size());
  for (size_t i = 0; i < single.stages.size(); ++i) {
    EXPECT_EQ(job->stages[i].name, single.stages[i].name);
    EXPECT_EQ(job->stages[i].wall.mean, single.stages[i].wall.mean);
    EXPECT_EQ(job->stages[i].gpu_busy.mean, single.stages[i].gpu_busy.mean);
    EXPECT_EQ(job->stages[i].warmup_count, single.stages[i].warmup_count);
  }
  EXPECT_EQ(job->totals.kernel_count, 2 * single.totals.kernel_count);
  EXPECT_EQ(job->totals.kernel_sum_ns.value, 2 * single.totals.kernel_sum_ns.value);
  ASSERT_EQ(job->ranks.size(), 2U);
  EXPECT_EQ(job->ranks[1].steps.size(), single.steps.size());
  EXPECT_EQ(job->ranks[1].steps_left_out, 0U);
}

// The client's requests are the job's; of two ranks, the one that could join them counts.
TEST(MergeRanks, RequestsAreThoseOfTheRankThatJoinedThem) {
  std::vector<RankPart> parts = {part_of(0), part_of(1)};
  for (RankPart& part : parts) {
    profile::Requests& requests = part.profile.requests.emplace();
    requests.join.state = profile::JoinState::no_clock;
    requests.completed = 3;
    requests.itl.count = 10;
  }
  profile::Requests& joined = *parts[1].profile.requests;
  joined.join.state = profile::JoinState::joined;
  joined.itl.count = 20;
  joined.batches.resize(1);
  joined.batches[0].first_step = 1;
  joined.batches[0].steps = 2;
  profile::RequestGap& gap = joined.slowest_gaps.emplace_back();
  gap.step = 1'000'000;  // no such step
  const auto job = merged(std::move(parts));
  ASSERT_TRUE(job && job->requests);
  EXPECT_EQ(job->requests->itl.count, 20U);
  EXPECT_EQ(job->requests->batches[0].first_step, 1U);  // all ranks have the same steps
  EXPECT_EQ(job->requests->batches[0].steps, 2U);
  EXPECT_FALSE(job->requests->slowest_gaps[0].step);
  ASSERT_EQ(job->token_times.served.size(), 1U);
  EXPECT_EQ(job->token_times.served[0].source, profile::ServedBy::requests);
  EXPECT_EQ(job->token_times.served[0].tokens, 20U);
}

TEST(MergeRanks, BudgetsSumToTheWallTime) {
  RankPart late = part_of(1);
  for (profile::Stage& stage : late.profile.stages) {
    for (profile::Instance& instance : stage.instances) instance.start_ns.value += 12'345;
  }
  for (Nanoseconds& time : late.step_start) time += 12'345;
  for (Nanoseconds& time : late.step_end) time += 12'345;
  const auto job = merged({part_of(0), std::move(late), part_of(2)});
  ASSERT_TRUE(job) << job.error().message;
  for (const profile::Stage& stage : job->stages) {
    Nanoseconds wall = 0;
    for (const profile::Instance& instance : stage.instances) {
      if (!instance.budget) continue;
      Nanoseconds sum = 0;
      for (const auto& [part, time] : *instance.budget) sum += time.value;
      EXPECT_EQ(sum, nanoseconds_of(instance.wall)) << stage.name;
      if (!instance.warmup) wall += sum;
    }
    if (!stage.budget) continue;
    Nanoseconds sum = 0;
    for (const profile::BudgetPart& part : *stage.budget) sum += part.total_ns.value;
    EXPECT_EQ(sum, wall) << stage.name;
  }
}

TEST(MergeRanks, StepsOfRanksAreLeftOutAboveFiftyThousand) {
  std::vector<RankPart> parts;
  for (uint64_t rank = 0; rank < 2; ++rank) {
    RankPart& part = parts.emplace_back(part_of(rank));
    // A step outside any instance that no other rank has.
    std::vector<profile::Step> steps = part.steps.unpacked();
    profile::Step step = steps.front();
    step.stage = "other";
    while (steps.size() < 25'001) {
      steps.push_back(step);
      part.step_start.push_back(0);
      part.step_end.push_back(1);
    }
    part.steps = PackedSteps(steps);
  }
  const auto job = merged(std::move(parts));
  ASSERT_TRUE(job) << job.error().message;
  EXPECT_TRUE(job->ranks[0].steps.empty());
  EXPECT_EQ(job->ranks[0].steps_left_out, 25'001U);
}

TEST(MergeRanks, RanksWithoutACaptureAreNamed) {
  RankPart dead;
  dead.identity.rank = 2;
  dead.identity.state = profile::RankState::died;
  dead.identity.state_detail = "signal 9";
  const auto job = merged({part_of(0), std::move(dead), part_of(1)});
  ASSERT_TRUE(job) << job.error().message;
  EXPECT_EQ(job->job->recorded, 2U);
  EXPECT_EQ(job->job->world_size, 3U);
  EXPECT_EQ(job->job->died, std::vector<uint64_t>{2});
  EXPECT_EQ(job->job->missing, std::vector<uint64_t>{2});
  EXPECT_TRUE(job->job->lower_bound);
  EXPECT_EQ(job->ranks[2].state_detail, "signal 9");
  EXPECT_FALSE(job->ranks[2].clock);
}

TEST(MergeRanks, PartsThatDoNotBelongTogetherAreRefused) {
  EXPECT_FALSE(merged({part_of(1), part_of(1)}));
  RankPart other = part_of(1);
  other.identity.job = "b";
  RankPart one = part_of(0);
  one.identity.job = "a";
  const auto mixed = merged({std::move(one), std::move(other)});
  ASSERT_FALSE(mixed);
  EXPECT_NE(mixed.error().message.find("different jobs"), std::string::npos);
  EXPECT_FALSE(merged({RankPart()}));
}

TEST(NamedTimes, MeansSumToTheMeanOfAll) {
  using enum profile::KernelClass;
  result::NamedTimes<profile::KernelClass> times;
  times.add(gemm, 1);
  times.add(norm, 1);
  times.add(rope, 1);
  times.add(norm, 3);
  Nanoseconds sum = 0;
  for (const auto& [name, time] : times.mean(3)) sum += time.value;
  EXPECT_EQ(sum, times.total() / 3);
}

}  // namespace
}  // namespace llmprof::job
