#include "report/sections/sections.h"

#include <gtest/gtest.h>

namespace llmprof::report {
namespace {

profile::Instance instance(double wall, const char* reason = nullptr, bool captures = false) {
  profile::Instance made;
  made.wall = {wall};
  made.warmup = reason != nullptr;
  if (reason != nullptr) made.warmup_reason = profile::find_word<profile::WarmupReason>(reason);
  made.captures_graph = captures;
  return made;
}

// llama-bench, which counts the second prefill.
profile::Profile benchmark() {
  profile::Profile profile;
  profile::Stage stage;
  stage.name = "prefill";
  stage.instances = {instance(221.114, "longer"), instance(15.617, "longer", true), instance(8.197),
                     instance(8.171)};
  stage.wall_with_captures = {10.662};
  profile.stages.push_back(std::move(stage));
  return profile;
}

TEST(LeftOutWordsTest, SayWhatIsLeftOutAndWhy) {
  const auto words = left_out_words(benchmark());
  ASSERT_EQ(words.size(), 1U);
  EXPECT_EQ(
      words[0],
      "Excluded from prefill as warm-up (recorded times): instance 0, 221.114 ms (longer than "
      "the later ones); instance 1, 15.617 ms (longer than the later ones; a CUDA graph is "
      "captured in it). A program's own clock may count the prefill in which it captures a "
      "CUDA graph: the recorded mean that includes it is 10.662 ms.");
}

TEST(LeftOutWordsTest, SayNothingWithoutWarmUp) {
  profile::Profile profile = benchmark();
  profile.stages[0].instances.erase(profile.stages[0].instances.begin(),
                                    profile.stages[0].instances.begin() + 2);
  profile.stages[0].wall_with_captures.reset();
  EXPECT_TRUE(left_out_words(profile).empty());
  EXPECT_EQ(mean_caveats(profile), "");
}

TEST(LeftOutWordsTest, NameFiveInstancesAndCountTheRest) {
  profile::Profile profile;
  profile::Stage stage;
  stage.name = "decode";
  for (int i = 0; i < 7; ++i) stage.instances.push_back(instance(i, "fewer_steps"));
  profile.stages.push_back(std::move(stage));
  EXPECT_NE(left_out_words(profile).at(0).find("instance 4, 4.000 ms (fewer steps than the later "
                                               "ones); 2 more."),
            std::string::npos);
}

TEST(LeftOutWordsTest, CaveatsAreOfMeansThatMislead) {
  EXPECT_EQ(mean_caveats(benchmark()),
            "A program's own clock may count the prefill in which it captures a CUDA graph: the "
            "recorded mean that includes it is 10.662 ms.");
  profile::Profile cold;
  profile::Stage stage;
  stage.name = "prefill";
  stage.only_the_first = true;
  stage.instance_count = 1;
  cold.stages.push_back(std::move(stage));
  EXPECT_EQ(mean_caveats(cold),
            "Only the program's first prefill was recorded: prefill times are cold-start times.");
  cold.stages[0].untraced.emplace();
  EXPECT_EQ(mean_caveats(cold),
            "Only the program's first prefill was recorded: recorded kernels are from "
            "a cold start; the time without tracing is from later instances.");
  cold.stages[0].untraced.reset();
  cold.stages[0].instance_count = 2;
  EXPECT_EQ(mean_caveats(cold),
            "Only the program's first 2 instances of prefill were recorded: prefill times are "
            "cold-start times.");
}

}  // namespace
}  // namespace llmprof::report
