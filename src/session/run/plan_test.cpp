#include "session/run/recordings.h"

#include <gtest/gtest.h>

#include "base/text.h"

namespace llmprof::session {
namespace {

using namespace std::chrono_literals;

RunRequest deep_run() {
  RunRequest request;
  request.captures.collector = true;
  request.captures.ncu = true;
  request.captures.torch_profiler = true;
  request.options.ncu.sections = {"SpeedOfLight", "MemoryWorkloadAnalysis", "Occupancy",
                                  "SchedulerStats"};
  return request;
}

double seconds(std::chrono::milliseconds time) {
  return std::chrono::duration<double>(time).count();
}

// The first GPU command of the README on an H200, 17 November 2026: 25.0 s alone, 20.4 s under the
// collector, 46.1, 28.5 and 2 s under ncu (39 and 17 launches), 27.3 s under torch.profiler; 151 s
// in all.
TEST(RunTimeTest, AgreesWithARunOnAnH200) {
  const RunTime time = estimate_run(deep_run(), 25s);
  EXPECT_NEAR(seconds(time.total()), 151, 0.1 * 151);
  EXPECT_NEAR(seconds(time[Recording::ncu]), 76.6, 0.1 * 76.6);
  EXPECT_NEAR(seconds(time[Recording::torch_profiler]), 27.3, 0.1 * 27.3);
}

// A program without ranges, 18 November 2026: 16.9 s alone, 18.9 s under the collector, 77.3 and
// 110.2 s under ncu (44 and 66 launches); 228 s in all.
TEST(RunTimeTest, AgreesWithAProgramWithoutRanges) {
  RunRequest request = deep_run();
  request.captures.torch_profiler = false;
  request.options.facts.name = "program";
  EXPECT_NEAR(seconds(estimate_run(request, 16'900ms).total()), 228, 0.1 * 228);
}

TEST(RunTimeTest, PassesThatAreNotPartOfTheRunTakeNoTime) {
  RunRequest request;
  request.options.repeats = 3;
  const RunTime time = estimate_run(request, 10s);
  EXPECT_EQ(time[Recording::control], 30s);
  EXPECT_EQ(time.total(), 30s);
}

TEST(RunTimeTest, DriverCallsCountWhereTheyAreCertain) {
  RunRequest request = deep_run();
  request.captures.collector_cuda = true;
  EXPECT_EQ(estimate_run(request, 10s)[Recording::driver_calls], 0s);
  request.options.pipeline.driver_calls = Switch::on;
  EXPECT_EQ(estimate_run(request, 10s)[Recording::driver_calls], 10s);
}

TEST(RunTimeTest, WhatFitsIsLeftAlone) {
  RunRequest request = deep_run();
  EXPECT_TRUE(fit_run(request, 25s, 300s, Recording::control).empty());
  EXPECT_TRUE(request.captures.ncu && request.captures.torch_profiler);
  EXPECT_EQ(request.options.ncu.launches_per_shape, 3U);
  EXPECT_EQ(request.options.top_n_kernels, 10U);
}

// 25 + 25 + 27.5 s, and 40 s for two runs under ncu, leave 17.5 of 135 s: 26 launches of 0.666 s.
TEST(RunTimeTest, NcuMeasuresFewerLaunchesFirst) {
  RunRequest request = deep_run();
  const auto notes = fit_run(request, 25s, 135s, Recording::control);
  EXPECT_EQ(request.options.ncu.launches_per_shape, 1U);
  EXPECT_EQ(request.options.top_n_kernels, 10U);
  EXPECT_TRUE(request.captures.ncu);
  ASSERT_EQ(notes.size(), 1U);
  EXPECT_TRUE(contains(notes.front(), "ncu measures 1 launch(es) of each shape instead of 3"));
}

TEST(RunTimeTest, ThenFewerKernels) {
  RunRequest request = deep_run();
  fit_run(request, 25s, 125s, Recording::control);
  EXPECT_EQ(request.options.ncu.launches_per_shape, 1U);
  EXPECT_EQ(request.options.top_n_kernels, 5U);
}

TEST(RunTimeTest, ThenNcuGoesAndItsSettingsStay) {
  RunRequest request = deep_run();
  const auto notes = fit_run(request, 25s, 80s, Recording::control);
  EXPECT_FALSE(request.captures.ncu);
  EXPECT_TRUE(request.captures.torch_profiler);
  EXPECT_EQ(request.options.ncu.launches_per_shape, 3U);
  ASSERT_EQ(notes.size(), 1U);
  EXPECT_TRUE(contains(notes.front(), "ncu is skipped: it would take about 78 s")) << notes.front();
}

TEST(RunTimeTest, ThenTorchProfiler) {
  RunRequest request = deep_run();
  const auto notes = fit_run(request, 25s, 60s, Recording::control);
  EXPECT_FALSE(request.captures.ncu || request.captures.torch_profiler);
  EXPECT_EQ(notes.size(), 2U);
}

TEST(RunTimeTest, WhatNeverFitsIsSaid) {
  RunRequest request = deep_run();
  const auto notes = fit_run(request, 25s, 10s, Recording::control);
  EXPECT_TRUE(request.captures.collector);
  ASSERT_EQ(notes.size(), 3U);
  EXPECT_TRUE(contains(notes.back(), "take about 50 s, longer than the time limit leaves (10 s)"))
      << notes.back();
}

TEST(RunTimeTest, TheControlRunIsOverOnceItIs) {
  RunRequest request = deep_run();
  EXPECT_TRUE(fit_run(request, 25s, 131s, Recording::collector).empty());
}

TEST(RunTimeTest, WordsNameEachPass) {
  RunRequest request = deep_run();
  EXPECT_EQ(run_time_words(estimate_run(request, 25s)),
            "about 2 min 35 s: control run 25 s, collector 25 s, ncu 78 s, torch.profiler 28 s");
  EXPECT_EQ(duration_words(119'600ms), "2 min");
  EXPECT_EQ(duration_words(400ms), "0 s");
}

}  // namespace
}  // namespace llmprof::session
