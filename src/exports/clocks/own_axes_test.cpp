#include "exports/clocks/own_axes.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "exports/exports.h"
#include "trace/builder.h"

namespace llmprof::exports {
namespace {

constexpr Nanoseconds kDay = 86'400'000'000'000;
constexpr Nanoseconds kSecond = 1'000'000'000;

// Captures that each contain one kernel, its launch and a range that was never closed.
class CapturesOnAxes : public ::testing::Test {
 protected:
  void capture(std::string_view path, std::string_view domain, Nanoseconds start,
               std::optional<int64_t> wall_clock = std::nullopt) {
    trace::Capture capture;
    capture.wall_clock_ns = wall_clock;
    capture.path = path;
    capture.clock_domain = domain;
    builder_.begin_capture(std::move(capture));
    const trace::ProcessId process = builder_.process(1, 1);
    const trace::ThreadId thread = builder_.thread(process, 1, 1);
    trace::Trace& trace = builder_.trace();
    trace.launches.start.push_back(start);
    trace.launches.end.push_back(start + 2);
    trace.launches.thread.push_back(thread);
    trace.launches.api.push_back(builder_.string("cudaLaunchKernel"));
    trace.launches.correlation.push_back(7);
    trace.kernels.start.push_back(start + 5);
    trace.kernels.end.push_back(start + 100);
    trace.kernels.name.push_back(builder_.string("gemm"));
    trace.kernels.shape.push_back(builder_.shape({}));
    trace.kernels.queue.push_back(builder_.queue({process, builder_.device(0), 0, 7}));
    trace.kernels.correlation.push_back(7);
    trace.ranges.start.push_back(start + 1);
    trace.ranges.end.push_back(trace::kOpenEnd);
    trace.ranges.thread.push_back(thread);
    trace.ranges.domain.emplace_back();
    trace.ranges.text.push_back(builder_.string("decode"));
    trace.ranges.kind.push_back(trace::RangeKind::push_pop);
  }
  std::optional<OwnAxes> on_axes() {
    trace_ = std::move(builder_).freeze();
    return on_own_axes({{trace_, results_}});
  }

  trace::TraceBuilder builder_;
  trace::Trace trace_;
  analysis::Results results_;
};

TEST_F(CapturesOnAxes, CapturesOfDifferentDaysEachBeginAtZero) {
  capture("monday.llmtrace", "boot-a", 3 * kDay);
  capture("friday.llmtrace", "boot-b", kDay);
  const auto own = on_axes();
  ASSERT_TRUE(own.has_value());
  ASSERT_EQ(own->clocks.size(), 2U);
  EXPECT_EQ(own->clocks[0].label, "monday.llmtrace");
  EXPECT_EQ(own->clocks[0].first, 3 * kDay);
  EXPECT_EQ(own->clocks[0].last, 3 * kDay + 100);
  EXPECT_EQ(own->clocks[1].first, kDay);
  for (size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(own->trace.kernels.start[i], 5);
    EXPECT_EQ(own->trace.kernels.end[i], 100);
    EXPECT_EQ(own->trace.launches.start[i], 0);
    EXPECT_EQ(own->trace.ranges.start[i], 1);
    EXPECT_EQ(own->trace.ranges.end[i], 100);  // with the last recorded time
  }
  // The analysis's own trace does not change.
  EXPECT_EQ(trace_.kernels.start[0], kDay + 5);
}

TEST_F(CapturesOnAxes, TheTimelineSaysSo) {
  capture("monday.llmtrace", "boot-a", 3 * kDay);
  capture("friday.llmtrace", "boot-b", kDay);
  trace_ = std::move(builder_).freeze();
  const auto timeline = make_timeline({{trace_, results_}});
  ASSERT_TRUE(timeline.has_value());
  const auto header = nlohmann::json::parse(timeline->header);
  EXPECT_EQ(header["origin_ns"], "0");
  EXPECT_EQ(header["span_ns"], 100);
  ASSERT_EQ(header["clocks"].size(), 2U);
  EXPECT_EQ(header["clocks"][1]["label"], "friday.llmtrace");
  EXPECT_EQ(header["clocks"][1]["first_ns"], std::to_string(kDay));
}

TEST_F(CapturesOnAxes, OneCaptureKeepsItsClock) {
  capture("a.llmtrace", "boot-a", 3 * kDay);
  trace_ = std::move(builder_).freeze();
  const auto timeline = make_timeline({{trace_, results_}});
  const auto header = nlohmann::json::parse(timeline->header);
  EXPECT_EQ(header["origin_ns"], std::to_string(3 * kDay));
  EXPECT_FALSE(header.contains("clocks"));
}

TEST_F(CapturesOnAxes, ProcessesOfOneRunKeepOneAxis) {
  capture("a.llmtrace", "boot-a", kDay);
  capture("b.llmtrace", "boot-a", kDay + 50);
  capture("c.llmtrace", "boot-a", kDay + 599 * kSecond);  // follows within ten minutes
  EXPECT_FALSE(on_axes().has_value());
}

TEST_F(CapturesOnAxes, RunsOfOneHostFarApartDoNot) {
  capture("a.llmtrace", "boot-a", kDay);
  capture("b.llmtrace", "boot-a", kDay + 601 * kSecond);
  ASSERT_TRUE(on_axes().has_value());
}

TEST_F(CapturesOnAxes, ClocksOfTwoHostsAreUnrelatedWhateverTheyShow) {
  capture("a.llmtrace", "boot-a", kDay);
  capture("b.llmtrace", "boot-b", kDay);
  EXPECT_TRUE(on_axes().has_value());
}

TEST_F(CapturesOnAxes, WithoutADomainTheWallClockTells) {
  capture("a.sqlite", "", 0, 5 * kDay);
  capture("b.sqlite", "", 50, 5 * kDay + 90 * kSecond);
  capture("c.sqlite", "", 70, 6 * kDay);
  const auto own = on_axes();
  ASSERT_TRUE(own.has_value());
  ASSERT_EQ(own->clocks.size(), 2U);
  EXPECT_EQ(own->clocks[0].label, "a.sqlite, b.sqlite");
  EXPECT_EQ(own->clocks[1].label, "c.sqlite");
}

TEST_F(CapturesOnAxes, WithoutADomainTimesDecide) {
  capture("a.sqlite", "", 0);
  capture("b.sqlite", "", 50);
  capture("c.llmtrace", "boot-a", 3 * kDay);
  const auto own = on_axes();
  ASSERT_TRUE(own.has_value());
  ASSERT_EQ(own->clocks.size(), 2U);
  EXPECT_EQ(own->clocks[0].label, "a.sqlite, b.sqlite");
  EXPECT_EQ(own->clocks[0].last, 150);
}

}  // namespace
}  // namespace llmprof::exports
