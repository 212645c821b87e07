#include "analysis/stages/selection.h"

#include <gtest/gtest.h>

#include "analysis/stages/annotated_stages.h"
#include "analysis/stages/kernel_scopes.h"
#include "analysis/stages/measure_stages.h"
#include "testing/hand_made_trace.h"

namespace llmprof::analysis {
namespace {

TEST(StepRange, ReadsAllForms) {
  const auto range_of = [](std::string_view text) {
    const profile::StepRange range = parse_step_range(text).value();
    return std::pair(range.first, range.last);
  };
  using Range = std::pair<uint64_t, std::optional<uint64_t>>;
  EXPECT_EQ(range_of("4:12"), Range(4, 11));
  EXPECT_EQ(range_of("4:"), Range(4, std::nullopt));
  EXPECT_EQ(range_of(":12"), Range(0, 11));
  EXPECT_EQ(range_of("7"), Range(7, 7));
  for (const char* text : {"", ":", "a", "1:b", "-1", "5:5", "6:5", "1:2:3", "99999999999"}) {
    const auto range = parse_step_range(text);
    ASSERT_FALSE(range) << text;
    EXPECT_EQ(range.error().kind, ErrorKind::usage);
  }
}

// Two requests: a prefill of 10 and three steps of 10 each, each with a kernel of 8; a copy in the
// first decode outside its steps, and a kernel outside all stages.
class SelectionTest : public ::testing::Test {
 protected:
  void SetUp() override {
    for (const Nanoseconds at : {0, 100}) {
      trace_made_.range("prefill", at, at + 10);
      trace_made_.kernel("p", at, at + 1, at + 9);
      trace_made_.range("decode_all", at + 10, at + 45);
      for (Nanoseconds step = at + 10; step < at + 40; step += 10) {
        trace_made_.range("decode_step", step, step + 10);
        trace_made_.kernel("d", step, step + 1, step + 9);
      }
    }
    trace_made_.copy(41, 42, 44);
    trace_made_.kernel("outside", 60, 61, 70);
    trace_ = trace_made_.freeze();
    const auto rules = StageRules::load(*config::ConfFiles::open(std::nullopt));
    auto stages = annotated_stages(trace_, MeaningfulRanges(trace_, *rules), diagnostics_);
    ASSERT_TRUE(stages);
    stages_ = std::move(*stages);
    ASSERT_EQ(stages_.instances.size(), 4U);
  }

  Result<void> keep(std::optional<std::string> stage, std::optional<profile::StepRange> steps) {
    return keep_selected(trace_, stages_, {std::move(stage), steps, {}, {}});
  }

  testing::HandMadeTrace trace_made_;
  trace::Trace trace_;
  Stages stages_;
  Diagnostics diagnostics_;
};

TEST_F(SelectionTest, KeepsOneStage) {
  ASSERT_TRUE(keep("decode", std::nullopt));
  ASSERT_EQ(stages_.stages.size(), 1U);
  EXPECT_EQ(stages_.stages[0].name, "decode");
  EXPECT_EQ(stages_.stages[0].wall.count, 2U);
  ASSERT_EQ(stages_.instances.size(), 2U);
  EXPECT_EQ(stages_.instances[0].wall(), 35);
  EXPECT_EQ(stages_.instances[0].work.memory_sum, 2);
  EXPECT_EQ(trace_.kernels.size(), 6U);
  EXPECT_EQ(trace_.memory_operations.size(), 1U);
  EXPECT_EQ(stages_.owners.kernel_instance.size(), 6U);
  EXPECT_EQ(stages_.owners.kernel_instance[5], InstanceId(1));
  EXPECT_EQ(stages_.owners.kernel_step[5], StepId(5));
  EXPECT_EQ(coverage(trace_, stages_, std::nullopt)->kernels_in_stages, 6U);
  EXPECT_TRUE(token_walls(stages_).first_token.empty());
}

// Steps end with their kernels, 19, 29 and 39 after the request's start.
TEST_F(SelectionTest, KeepsSomeStepsOfEveryInstance) {
  ASSERT_TRUE(keep(std::nullopt, profile::StepRange{1, 2}));
  ASSERT_EQ(stages_.instances.size(), 2U);
  EXPECT_EQ(stages_.instances[0].start, 19);
  EXPECT_EQ(stages_.instances[0].end, 39);
  EXPECT_EQ(stages_.instances[1].start, 119);
  EXPECT_EQ(stages_.instances[0].step_count, 2U);
  EXPECT_EQ(stages_.instances[1].first_step, 2U);
  EXPECT_EQ(trace_.kernels.size(), 4U);
  EXPECT_EQ(trace_.memory_operations.size(), 0U);
  EXPECT_EQ(stages_.instances[0].work.kernel_sum, 16);
  EXPECT_EQ(stages_.stages[0].step_wall.count, 4U);
  EXPECT_DOUBLE_EQ(summarize(token_walls(stages_).per_token).mean, 10);
}

TEST_F(SelectionTest, KeepsAllStepsWithWhatIsBetweenThem) {
  ASSERT_TRUE(keep("decode", profile::StepRange{0, std::nullopt}));
  EXPECT_EQ(stages_.instances[0].wall(), 35);
  EXPECT_EQ(trace_.memory_operations.size(), 1U);
}

TEST_F(SelectionTest, NamesWhatIsThereWhereTheWantedIsNot) {
  const auto stage = keep("decod", std::nullopt);
  ASSERT_FALSE(stage);
  EXPECT_EQ(stage.error().kind, ErrorKind::usage);
  EXPECT_EQ(stage.error().message, "unknown value 'decod' for --stage; available: prefill, decode");
  const auto steps = keep("decode", profile::StepRange{3, 8});
  ASSERT_FALSE(steps);
  EXPECT_EQ(steps.error().message, "--steps 3:9: no such steps of decode; available: 0:3");
  const auto none = keep("prefill", profile::StepRange{0, 0});
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().message, "--steps: the instances of prefill have no steps");
  EXPECT_EQ(trace_.kernels.size(), 9U);  // nothing was removed
}

TEST_F(SelectionTest, SaysWhyThereIsNothingToSelect) {
  Stages nothing;
  const auto kept = keep_selected(trace_, nothing, {"decode", {}, {}, {}}, ": nothing repeats");
  ASSERT_FALSE(kept);
  EXPECT_NE(kept.error().message.find("nothing repeats"), std::string::npos);
}

TEST(KeepDevice, TakesOtherDevicesOut) {
  testing::HandMadeTrace made;
  made.kernel("a", 0, 1, 2);
  made.kernel("b", 0, 3, 4, {{}, 1, 7, 0, {1, 1, 1}});
  made.kernel("c", 0, 5, 6);
  made.copy(0, 7, 8);
  trace::Trace trace = made.freeze();
  const auto missing = keep_device(trace, 2);
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().message,
            "--device 2: no work of this GPU was recorded; available: 0, 1");
  ASSERT_TRUE(keep_device(trace, 1));
  ASSERT_EQ(trace.kernels.size(), 1U);
  EXPECT_EQ(trace.strings[trace.kernels.name[0]], "b");
  EXPECT_EQ(trace.kernels.launch.size(), 1U);
  EXPECT_EQ(trace.memory_operations.size(), 0U);
}

TEST(SelectEngineSteps, CountsThemThrough) {
  testing::HandMadeTrace made;
  for (Nanoseconds i = 0; i < 6; ++i) {
    made.range(i % 3 == 0 ? "step[EXTEND bs=1 toks=9]" : "step[DECODE bs=1]", i * 10, i * 10 + 9);
    made.kernel("k", i * 10, i * 10 + 1, i * 10 + 9);
  }
  trace::Trace trace = made.freeze();
  Diagnostics diagnostics;
  const auto rules = StageRules::load(*config::ConfFiles::open(std::nullopt));
  auto stages = annotated_stages(trace, MeaningfulRanges(trace, *rules), diagnostics);
  ASSERT_TRUE(stages);
  ASSERT_TRUE(keep_selected(trace, *stages, {{}, profile::StepRange{2, 3}, {}, {}}));
  ASSERT_EQ(stages->instances.size(), 2U);
  EXPECT_EQ(stages->instances[0].start, 20);
  EXPECT_EQ(stages->instances[1].start, 30);
  EXPECT_EQ(trace.kernels.size(), 2U);
}

}  // namespace
}  // namespace llmprof::analysis
