#include "compare/quantities/judging.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace llmprof::compare {
namespace {

Run run_on(std::string_view device, std::vector<profile::RecordingLoad> load) {
  Run run;
  run.profile.context.device_kind = *profile::find_word<profile::DeviceKind>(device);
  run.profile.context.load = std::move(load);
  return run;
}

// 10 ms became 20 ms, 19.8 to 20.2 ms within these runs.
Comparison twice_as_long() {
  Comparison comparison;
  comparison.method = Method::block_bootstrap;
  comparison.base = 10;
  comparison.now = 20;
  comparison.difference = 10;
  comparison.low = 9.8;
  comparison.high = 10.2;
  return comparison;
}

Comparison widened(const Run& base, const Run& now, const SingleRuns::Composition& made,
                   Comparison comparison = twice_as_long()) {
  const auto single = SingleRuns::of({{&base, 1}, {&now, 1}});
  EXPECT_TRUE(single);
  single->widen(made, comparison);
  return comparison;
}

const profile::RecordingLoad kQuiet{profile::RecordingName::collector, 2, 2, 2, 0};

TEST(SingleRuns, SeveralRunsNeedNoAssumption) {
  const std::vector<compare::Run> two(2, run_on("cpu", {}));
  EXPECT_FALSE(SingleRuns::of({two, two}));
  EXPECT_FALSE(SingleRuns::of({{two.data(), 1}, two}));
}

TEST(SingleRuns, OnAQuietCpuDifferByAFifth) {
  const Comparison found =
      widened(run_on("cpu", {kQuiet}), run_on("cpu", {kQuiet}), {true, 10, 0, 1, 1});
  EXPECT_DOUBLE_EQ(*found.low, 19.8 / 1.2 - 10 - 0.05);
  EXPECT_DOUBLE_EQ(*found.high, 20.2 * 1.2 - 10 + 0.05);
  EXPECT_NEAR(found.between_runs->value, 0.2, 1e-12);
}

TEST(SingleRuns, OnASharedCpuDifferByWhatOthersTook) {
  // Others used as much CPU as the program, which may have doubled its time.
  const profile::RecordingLoad shared{profile::RecordingName::collector, 2, 2, 1, 1};
  const Comparison slower =
      widened(run_on("cpu", {kQuiet}), run_on("cpu", {shared}), {true, 10, 0, 2, 2});
  EXPECT_DOUBLE_EQ(*slower.low, 19.8 / 2.4 - 10 - 0.05);
  EXPECT_DOUBLE_EQ(*slower.high, 20.2 * 1.2 - 10 + 0.05);
  const Comparison base_slower =
      widened(run_on("cpu", {shared}), run_on("cpu", {kQuiet}), {true, 10, 0, 2, 2});
  EXPECT_DOUBLE_EQ(*base_slower.low, 19.8 / 1.2 - 10 - 0.05);
  EXPECT_DOUBLE_EQ(*base_slower.high, 20.2 * 2.4 - 10 + 0.05);
}

TEST(SingleRuns, OnACpuOfWhichNothingIsKnownTwiceIsNotEnough) {
  const Comparison found = widened(run_on("cpu", {}), run_on("cpu", {kQuiet}), {true, 10, 0, 1, 1});
  EXPECT_LT(*found.low, 0);
  EXPECT_GT(*found.high, 0);
}

TEST(SingleRuns, OnAGpuTheHostVariesWithinItsIdleTime) {
  const compare::Run gpu = run_on("gpu", {});
  // 1 ms idle plus 0.3 % of the wall time; independent of the 0.2 ms within the runs.
  const Comparison wall = widened(gpu, gpu, {true, 10, 1, 1, 1});
  EXPECT_NEAR(*wall.low, 10 - std::hypot(0.2, 1.03), 1e-12);
  // At most a quarter of the wall time.
  const Comparison idle = widened(gpu, gpu, {true, 10, 9, 1, 1});
  EXPECT_NEAR(*idle.high, 10 + std::hypot(0.2, 2.53), 1e-12);
  const Comparison kernels = widened(gpu, gpu, {false, 10, 9, 1, 1});
  EXPECT_NEAR(*kernels.low, 10 - std::hypot(0.2, 0.03), 1e-12);
  EXPECT_FALSE(wall.why_not);
}

TEST(SingleRuns, WithoutACpuLeftNothingIsKnownOfTheHost) {
  const compare::Run gpu = run_on("gpu", {});
  const compare::Run busy = run_on("gpu", {{profile::RecordingName::stage1, 2, 4, 2, 2}});
  EXPECT_EQ(widened(gpu, busy, {true, 10, 1, 1, 1}).why_not, NoAnswer::shared_cpus);
  EXPECT_FALSE(widened(gpu, busy, {false, 10, 1, 1, 1}).why_not);
}

TEST(SingleRuns, TheSameMeasurementsStayTheSame) {
  const compare::Run gpu = run_on("gpu", {});
  Comparison same = twice_as_long();
  same.method = Method::identical;
  same.difference = same.low = same.high = 0;
  EXPECT_EQ(widened(gpu, gpu, {true, 10, 1, 1, 1}, same).high, 0);
}

}  // namespace
}  // namespace llmprof::compare
