#include "session/analysis/plan.h"

#include <gtest/gtest.h>

#include "testing/temporary_folder.h"

namespace llmprof::session {
namespace {

constexpr std::string_view kControl =
    R"({"aggregates": {"stage_ms": {"prefill": {"mean": 20}, "decode": {"mean": 80}}}})";

void write(const testing::TemporaryFolder& folder, std::string_view pass, std::string_view file,
           std::string_view text) {
  std::filesystem::create_directories(folder.path() / pass);
  folder.write(std::string(pass) + "/" + std::string(file), text);
}

TEST(Overhead, IsAPassOverTheControlByStage) {
  const testing::TemporaryFolder folder;
  write(folder, "stage1", "metrics.json", kControl);
  write(folder, "nsys", "metrics.json",
        R"({"aggregates": {"stage_ms": {"decode": {"mean": 100}, "prefill": {"mean": 21},
                                        "vision": {"mean": 3}}}})");
  const auto rows = measure_overhead(folder.path());
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0].pass, profile::RecordingName::nsys);
  EXPECT_EQ(rows[0].stage, "prefill");
  EXPECT_DOUBLE_EQ(rows[0].ratio, 1.05);
  EXPECT_EQ(rows[1].stage, "decode");
  EXPECT_DOUBLE_EQ(rows[1].ratio, 1.25);
  EXPECT_FALSE(rows[1].whole_run);
}

TEST(Overhead, WithoutStagesInBothItIsTheCommands) {
  const testing::TemporaryFolder folder;
  write(folder, "stage1", "metrics.json", kControl);
  write(folder, "stage1", "status.json", R"([{"name": "control", "seconds": 2.0}])");
  write(folder, "ncu", "status.json",
        R"([{"name": "profile", "seconds": 9.0}, {"name": "profile_2", "seconds": 30.0},
            {"name": "export", "seconds": 1.0}])");
  write(folder, "torch", "metrics.json", "no JSON");
  const auto rows = measure_overhead(folder.path());
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(rows[0].pass, profile::RecordingName::ncu);
  EXPECT_TRUE(rows[0].whole_run);
  EXPECT_DOUBLE_EQ(rows[0].control.value, 2000);
  EXPECT_DOUBLE_EQ(rows[0].ratio, 15);
}

TEST(MachineLoad, IsThatOfTheLastCommandThatRanTheProgram) {
  const testing::TemporaryFolder folder;
  write(
      folder, "stage1", "status.json",
      R"([{"name": "control", "seconds": 2.5, "load": {"cpus": 2, "used": 1.9, "others": 0.05}}])");
  write(folder, "nsys", "status.json",
        R"([{"name": "profile", "seconds": 3, "load": {"cpus": 2, "used": 1, "others": 1}},
            {"name": "export", "seconds": 1, "load": {"cpus": 2, "used": 0.5, "others": 0}}])");
  write(folder, "ncu", "status.json", R"([{"name": "profile", "seconds": 9.0, "load": null}])");
  const auto passes = machine_load(folder.path());
  ASSERT_EQ(passes.size(), 2U);
  EXPECT_EQ(passes[0].pass, profile::RecordingName::stage1);
  EXPECT_DOUBLE_EQ(passes[0].seconds, 2.5);
  EXPECT_DOUBLE_EQ(passes[0].others, 0.05);
  EXPECT_EQ(passes[1].pass, profile::RecordingName::nsys);
  EXPECT_DOUBLE_EQ(passes[1].used, 1);
}

// 30 and 62 ms, each +- 10: the difference is within twice their deviations.
TEST(Overhead, IsNotProfilingsWhereRequestsVaryAsMuch) {
  const testing::TemporaryFolder folder;
  write(
      folder, "stage1", "metrics.json",
      R"({"aggregates": {"stage_ms": {"decode": {"mean": 30, "std": 10}, "prefill": {"mean": 9, "std": 1}}}})");
  write(
      folder, "collector", "metrics.json",
      R"({"aggregates": {"stage_ms": {"decode": {"mean": 62, "std": 10}, "prefill": {"mean": 18, "std": 1}}}})");
  const auto rows = measure_overhead(folder.path());
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0].other_cause, profile::OtherCause::spread);
  EXPECT_EQ(rows[1].other_cause, std::nullopt);
}

TEST(Overhead, IsNotProfilingsAloneWhereOthersUsedTheCpus) {
  const testing::TemporaryFolder folder;
  write(folder, "stage1", "metrics.json", kControl);
  write(folder, "collector", "metrics.json",
        R"({"aggregates": {"stage_ms": {"decode": {"mean": 170}}}})");
  write(folder, "collector", "status.json",
        R"([{"name": "record", "seconds": 3, "load": {"cpus": 2, "used": 1, "others": 1}}])");
  const auto rows = measure_overhead(folder.path());
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(rows[0].other_cause, profile::OtherCause::cpus_short);
}

TEST(Overhead, NothingToCompareIsNothing) {
  const testing::TemporaryFolder folder;
  EXPECT_TRUE(measure_overhead(folder.path()).empty());
  write(folder, "nsys", "metrics.json", kControl);
  EXPECT_TRUE(measure_overhead(folder.path()).empty());
}

}  // namespace
}  // namespace llmprof::session
