#include <gtest/gtest.h>

#include <limits>

#include "profile/json/json.h"
#include "testing/reasons.h"
#include "testing/sample_profile.h"

namespace llmprof::profile {
namespace {

TEST(ProfileJson, ReadsBackWhatItWrote) {
  for (const Profile& sample :
       {testing::full_sample(), testing::controlled_sample(), testing::duty_sample(),
        testing::profiler_sample(), testing::serving_sample()}) {
    const std::string text = to_json(sample);
    const auto read = from_json(text);
    ASSERT_TRUE(read) << read.error().message;
    EXPECT_EQ(to_json(*read), text);
  }
}

TEST(ProfileJson, KeepsNumbersToTheLastDigit) {
  Profile profile;
  profile.totals.kernel_sum = {1.0 / 3};
  profile.totals.kernel_sum_ns = {std::numeric_limits<Nanoseconds>::max()};
  profile.totals.span = Milliseconds{1e-300};
  profile.totals.gpu_busy = Milliseconds{-0.0001};
  profile.totals.memory_operation_sum = {5e17};
  profile.totals.kernel_count = std::numeric_limits<uint64_t>::max();
  const auto read = from_json(to_json(profile));
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->totals.kernel_sum, profile.totals.kernel_sum);
  EXPECT_EQ(read->totals.kernel_sum_ns, profile.totals.kernel_sum_ns);
  EXPECT_EQ(read->totals.span, profile.totals.span);
  EXPECT_EQ(read->totals.gpu_busy, profile.totals.gpu_busy);
  EXPECT_EQ(read->totals.memory_operation_sum, profile.totals.memory_operation_sum);
  EXPECT_EQ(read->totals.kernel_count, profile.totals.kernel_count);
}

TEST(ProfileJson, KeepsReasons) {
  Profile profile;
  FindingValues values;
  values.add("gpus", 2).add("share", Share{1.0 / 3}).add("gpu", "H200");
  const Reasons reasons = {make_reason(ReasonKind::several_gpus, values),
                           make_reason(ReasonKind::no_model)};
  profile.utilization.why_not_reasons = reasons;
  profile.findings.emplace_back().value_reasons = {{3, reasons}};
  const auto read = from_json(to_json(profile));
  ASSERT_TRUE(read) << read.error().message;
  const Reasons& kept = read->utilization.why_not_reasons;
  ASSERT_EQ(kept.size(), 2U);
  EXPECT_EQ(kept[0].kind, profile::ReasonKind::several_gpus);
  EXPECT_EQ(find_number(kept[0].values, "gpus"), 2);
  EXPECT_EQ(testing::find_quantity<Unit::share>(kept[0].values, "share"), Share{1.0 / 3});
  EXPECT_EQ(find_text(kept[0].values, "gpu"), "H200");
  EXPECT_EQ(reasons[1].kind, profile::ReasonKind::no_model);
  ASSERT_EQ(read->findings[0].value_reasons.size(), 1U);
  EXPECT_EQ(read->findings[0].value_reasons[0].value, 3U);
  EXPECT_EQ(read->findings[0].value_reasons[0].reasons.size(), 2U);
}

TEST(ProfileJson, KeepsHostileTexts) {
  Profile profile;
  profile.kernels.emplace_back().kernel_name = "a \"b\" \\ </script> \t \xE2\x82\xAC";
  const auto read = from_json(to_json(profile));
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->kernels[0].kernel_name, profile.kernels[0].kernel_name);
}

TEST(ProfileJson, ReadsFilesThatLackNewerFields) {
  const auto read = from_json(R"({"schema_version": 1, "kernels": [{"kernel_name": "k"}]})");
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->kernels[0].kernel_name, "k");
  EXPECT_EQ(read->kernels[0].key, "");
  EXPECT_FALSE(read->coverage);
}

// A word added by a later version is kept, like a text.
TEST(ProfileJson, KeepsWordsOfOtherVersions) {
  const auto read = from_json(R"({"schema_version": 1, "kernels": [],
      "stages": [{"source": "of_tomorrow", "instances": [{"warmup_reason": "longer"}]},
                 {"source": "of_tomorrow"}, {"source": "nvtx"}]})");
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->stages[0].instances[0].warmup_reason, WarmupReason::longer);
  EXPECT_EQ(read->stages[2].source, StageSource::nvtx);
  const StageSource unknown = read->stages[0].source;
  EXPECT_EQ(read->stages[1].source, unknown);
  EXPECT_FALSE(is_known(unknown));
  EXPECT_EQ(to_string(unknown), "of_tomorrow");
  EXPECT_NE(to_json(*read).find(R"("source": "of_tomorrow")"), std::string::npos);
}

TEST(ProfileJson, RefusesHundredsOfUnknownWords) {
  std::string stages;
  for (int i = 0; i < 300; ++i) {
    stages += (i > 0 ? ", " : "") + std::string(R"({"judgement": {"limit": "word)") +
              std::to_string(i) + R"("}})";
  }
  const auto read =
      from_json(R"({"schema_version": 1, "kernels": [], "stages": [)" + stages + "]}");
  ASSERT_FALSE(read);
  EXPECT_NE(read.error().message.find("judgement.limit: expected a word such as room"),
            std::string::npos)
      << read.error().message;
}

TEST(ProfileJson, PassesOverUnknownFields) {
  EXPECT_TRUE(from_json(R"({"schema_version": 1, "kernels": [], "of_tomorrow": {"x": [1]}})"));
}

std::string refusal(std::string_view text) {
  const auto read = from_json(text);
  return read ? "" : read.error().message;
}

TEST(ProfileJson, NamesThePlaceOfWhatIsWrong) {
  EXPECT_EQ(
      refusal(R"({"schema_version": 1, "kernels": [{}, {"calls": -1}]})"),
      "kernels[1].calls: expected a count, found number; write it again with `llmprof analyze`");
  EXPECT_EQ(refusal(R"({"schema_version": 1, "kernels": [],
                        "stages": [{"wall_ms": {"mean": "1"}}]})"),
            "stages[0].wall_ms.mean: expected a number, found string; write it again with `llmprof "
            "analyze`");
  EXPECT_EQ(refusal(R"({"schema_version": 1, "kernels": [{"shapes": [{"grid": [1]}]}]})"),
            "kernels[0].shapes[0].grid: expected a list of 3, found array; write it again with "
            "`llmprof analyze`");
}

TEST(ProfileJson, RefusesWhatIsNoProfile) {
  EXPECT_NE(refusal("{").find("not valid JSON at byte 2"), std::string::npos);
  EXPECT_NE(refusal("[]").find("llmprof analyze"), std::string::npos);
  EXPECT_NE(refusal(R"({"traceEvents": []})").find("llmprof analyze"), std::string::npos);
  EXPECT_NE(refusal(R"({"schema_version": 2, "kernels": []})").find("newer"), std::string::npos);
}

}  // namespace
}  // namespace llmprof::profile
