#include "exports/exports.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "exports/timeline/parts.h"
#include "testing/hand_made_trace.h"

namespace llmprof::exports {
namespace {

std::vector<uint8_t> bytes_of(std::string text) { return {text.begin(), text.end()}; }

TEST(Column, VarintsAndDifferences) {
  Column u(Coding::u);
  for (const uint64_t value : {0ULL, 127ULL, 128ULL, 300ULL}) u.add(value);
  EXPECT_EQ(bytes_of(u.take()), (std::vector<uint8_t>{0, 127, 0x80, 1, 0xAC, 2}));

  Column s(Coding::s);
  for (const int64_t value : {0, -1, 1, -64, 64}) s.add(value);
  EXPECT_EQ(bytes_of(s.take()), (std::vector<uint8_t>{0, 1, 2, 127, 0x80, 1}));

  Column delta(Coding::sdelta);
  for (const int64_t value : {5, 5, 3}) delta.add(value);
  EXPECT_EQ(bytes_of(delta.take()), (std::vector<uint8_t>{10, 0, 3}));
}

TEST(Column, ExtremesFitTenBytes) {
  Column s(Coding::s);
  s.add(INT64_MIN);
  s.add(INT64_MAX);
  const std::string bytes = s.take();
  EXPECT_EQ(bytes.size(), 20U);
  EXPECT_EQ(static_cast<uint8_t>(bytes[9]), 1);
}

// Rows are encoded in batches; differences continue from one batch to the next.
TEST(Column, DifferencesOfManyRows) {
  constexpr size_t kRows = 1000;
  Column up(Coding::udelta);
  Column up_and_down(Coding::sdelta);
  for (size_t i = 0; i < kRows; ++i) {
    up.add(3 * (i + 1));
    up_and_down.add(i % 2 == 0 ? 2 : -2);
  }
  EXPECT_EQ(up.take(), std::string(kRows, 3));
  std::string expected = "\4";                                                          // 2
  while (expected.size() < kRows) expected += expected.size() % 2 == 1 ? '\7' : '\10';  // -4, 4
  EXPECT_EQ(up_and_down.take(), expected);
}

TEST(Column, FloatsAreLittleEndian) {
  Column f(Coding::f32);
  f.add(1.0F);
  EXPECT_EQ(bytes_of(f.take()), (std::vector<uint8_t>{0, 0, 0x80, 0x3F}));
}

struct Levels {
  std::vector<Level> levels;
  std::vector<uint8_t> busy;
  std::vector<uint8_t> classes;
};

Levels written(Pyramid& pyramid) {
  Column busy(Coding::u8);
  Column classes(Coding::u8);
  size_t rows = 0;
  Levels out;
  out.levels = pyramid.write(busy, classes, rows);
  out.busy = bytes_of(busy.take());
  out.classes = bytes_of(classes.take());
  EXPECT_EQ(out.busy.size(), rows);
  return out;
}

TEST(Pyramid, OverlapIsBusyOnce) {
  Pyramid pyramid(Window{1000, 1000 + 65536 * 100});
  // The first bin of 100 ns has two kernels of 50 ns that overlap by 30 ns; the second bin is full.
  pyramid.add(1000, 1050, 2);
  pyramid.add(1020, 1070, 3);
  pyramid.add(1100, 1200, 3);
  const Levels found = written(pyramid);
  ASSERT_EQ(found.levels[0].bin, 100);
  EXPECT_EQ(found.busy[0], 179);  // 70 %
  EXPECT_EQ(found.busy[1], 255);
  EXPECT_EQ(found.busy[2], 0);
  EXPECT_EQ(found.classes[1], 3);
  // The next level: 170 of 400 ns, most of it class 3.
  EXPECT_EQ(found.levels[1].bin, 400);
  EXPECT_EQ(found.busy[found.levels[1].first], 108);
  EXPECT_EQ(found.classes[found.levels[1].first], 3);
}

TEST(Pyramid, ATraceOfDaysAndOneOfANanosecond) {
  constexpr Nanoseconds kWeek = 7LL * 24 * 3600 * 1'000'000'000;
  Pyramid week(Window{0, kWeek});
  week.add(0, kWeek, 0);
  const Levels all = written(week);
  EXPECT_EQ(all.busy[0], 255);
  EXPECT_GE(all.busy[all.levels.back().first], 254);
  Pyramid instant(Window{5, 6});
  instant.add(5, 6, 1);
  EXPECT_EQ(written(instant).busy[0], 255);
}

TEST(Timeline, ATraceWithoutTimesHasNone) {
  const trace::Trace trace;
  const analysis::Results results;
  EXPECT_FALSE(make_timeline({{trace, results}}));
}

TEST(Timeline, DamagedTimesAreNoTimeline) {
  trace::Trace trace;
  trace.launches.start = {INT64_MIN, 0};
  trace.launches.end = {0, INT64_MAX};
  trace.launches.thread.resize(2);
  trace.launches.api.resize(2);
  trace.launches.correlation.resize(2);
  const analysis::Results results;
  const auto timeline = make_timeline({{trace, results}});
  ASSERT_FALSE(timeline);
  EXPECT_NE(timeline.error().message.find("100 days"), std::string::npos);
}

TEST(Timeline, OfAMillionCallsShortQueriesAreLeftOut) {
  constexpr size_t kLaunches = 600'000;
  trace::Trace trace;
  const trace::StringId launch = trace.strings.intern("cudaLaunchKernel");
  const trace::StringId query = trace.strings.intern("cuKernelGetName");
  trace.api_kinds = {trace::ApiKind::launch, trace::ApiKind::other};
  for (size_t i = 0; i < kLaunches; ++i) {
    const auto start = static_cast<Nanoseconds>(i) * 10'000;
    for (const auto& [api, at] : {std::pair(query, start), std::pair(launch, start + 500)}) {
      trace.launches.start.push_back(at);
      trace.launches.end.push_back(at + 200);
      trace.launches.api.push_back(api);
    }
  }
  trace.launches.thread.resize(2 * kLaunches);
  trace.launches.correlation.resize(2 * kLaunches);
  const analysis::Results results;
  const auto timeline = make_timeline({{trace, results}});
  ASSERT_TRUE(timeline);
  const auto header = nlohmann::json::parse(timeline->header);
  EXPECT_EQ(header["tables"]["calls"]["rows"], kLaunches);
  EXPECT_EQ(header["tracks"][0]["label"], "thread not known (without 600000 queries below 1 µs)");
}

TEST(Timeline, ARangeAloneIsATrack) {
  trace::Trace trace;
  trace.processes.push_back({{}, 1, 42, "engine"});
  trace.threads.push_back({trace::ProcessId(0), 1, 43, "main"});
  trace.ranges.start = {100, 120, 150};
  trace.ranges.end = {200, 140, trace::kOpenEnd};
  trace.ranges.thread = {trace::ThreadId(0), trace::ThreadId(0), trace::ThreadId()};
  trace.ranges.domain.resize(3);
  trace.ranges.text = {trace.strings.intern("outer"), trace.strings.intern("inner"),
                       trace.strings.intern("\xff<")};
  trace.ranges.kind.resize(3);
  const analysis::Results results;
  const auto timeline = make_timeline({{trace, results}});
  ASSERT_TRUE(timeline);
  const auto header = nlohmann::json::parse(timeline->header);
  EXPECT_EQ(header["origin_ns"], "100");
  EXPECT_EQ(header["span_ns"], 100);
  ASSERT_EQ(header["tracks"].size(), 2U);
  EXPECT_EQ(header["tracks"][1]["group"], "engine (42)");
  EXPECT_EQ(header["tracks"][1]["label"], "main 43");
  EXPECT_EQ(header["tables"]["ranges"]["rows"], 3);
  const auto depth = std::find_if(timeline->columns.begin(), timeline->columns.end(),
                                  [](const auto& column) { return column.name == "ranges.depth"; });
  EXPECT_EQ(bytes_of(depth->bytes), (std::vector<uint8_t>{0, 1, 0}));
}

std::vector<int64_t> sdeltas(const Timeline& timeline, std::string_view name) {
  const auto column = std::find_if(timeline.columns.begin(), timeline.columns.end(),
                                   [&](const auto& each) { return each.name == name; });
  std::vector<int64_t> values;
  uint64_t value = 0;
  uint32_t shift = 0;
  int64_t sum = 0;
  for (const uint8_t byte : bytes_of(column->bytes)) {
    value |= static_cast<uint64_t>(byte & 0x7FU) << shift;
    shift += 7;
    if ((byte & 0x80U) != 0) continue;
    sum += static_cast<int64_t>(value >> 1U) ^ -static_cast<int64_t>(value & 1U);
    values.push_back(sum);
    value = 0;
    shift = 0;
  }
  return values;
}

TEST(Timeline, RanksAreOnOneClock) {
  const analysis::Results results;
  // The same kernel at the same job time, on two clocks.
  std::vector<trace::Trace> traces;
  for (const Nanoseconds behind : {0, 5'000}) {
    testing::HandMadeTrace capture;
    capture.kernel("gemm", 10'000 - behind, 20'000 - behind, 30'000 - behind);
    traces.push_back(capture.freeze());
  }
  profile::RankClock late;
  late.offset_ns = {5'000};
  const ExportSources ranks = {{traces[0], results, "rank 0"},
                               {traces[1], results, "rank 10", job::JobClock(late)}};
  const auto timeline = make_timeline(ranks);
  ASSERT_TRUE(timeline);
  const auto header = nlohmann::json::parse(timeline->header);
  EXPECT_EQ(header["kernels"].size(), 1U);
  EXPECT_EQ(header["tracks"][0]["group"], "rank 0 / GPU 0");
  EXPECT_EQ(header["tracks"][1]["group"], "rank 10 / GPU 0");
  EXPECT_EQ(header["tracks"][1]["device"], "rank10/cuda:0");
  EXPECT_EQ(header["tracks"][2]["kind"], "thread");
  EXPECT_EQ(sdeltas(*timeline, "slices.start"), (std::vector<int64_t>{10'000, 10'000}));
  // A kernel refers to a call of its own rank.
  EXPECT_EQ(sdeltas(*timeline, "slices.call"), (std::vector<int64_t>{1, 2}));
}

// A decode from 10 to 60 us with gaps of 20 and 5 us, and an earlier gap outside it.
TEST(Timeline, GapsAreSummedByStageAndCause) {
  testing::HandMadeTrace capture;
  for (const auto& [start, end] : {std::pair{1'000, 2'000}, std::pair{11'000, 20'000},
                                   std::pair{40'000, 45'000}, std::pair{50'000, 60'000}}) {
    capture.kernel("gemm", start - 500, start, end);
  }
  const trace::Trace trace = capture.freeze();
  analysis::Results results;
  results.stages.stages.emplace_back().name = "decode";
  analysis::StageInstance& decode = results.stages.instances.emplace_back();
  decode.start = 10'000;
  decode.end = 60'000;
  results.stages.owners.kernel_instance = {analysis::InstanceId(), analysis::InstanceId(0),
                                           analysis::InstanceId(0), analysis::InstanceId(0)};
  results.stages.owners.kernel_step.resize(4);
  const auto host = static_cast<uint8_t>(analysis::BudgetPart::idle_host);
  results.idle_before.kernel = {analysis::IdleBefore::kNotIdle, host, host, host};
  const auto timeline = make_timeline({{trace, results}});
  ASSERT_TRUE(timeline);
  const auto header = nlohmann::json::parse(timeline->header);
  ASSERT_EQ(header["gaps"].size(), 1U);
  EXPECT_EQ(header["gaps"][0]["stage"], "decode");
  EXPECT_EQ(header["gaps"][0]["cause"], "idle: host between launches");
  EXPECT_EQ(header["gaps"][0]["gaps"], 2);
  EXPECT_EQ(header["gaps"][0]["total_ns"], 25'000);
  EXPECT_EQ(header["gaps"][0]["longest_ns"], 20'000);
  // The capture starts with the first launch, at 0.5 us.
  EXPECT_EQ(header["gaps"][0]["longest_start_ns"], 19'500);
}

std::vector<uint8_t> column_bytes(const Timeline& timeline, std::string_view name) {
  const auto column = std::find_if(timeline.columns.begin(), timeline.columns.end(),
                                   [&](const auto& each) { return each.name == name; });
  return bytes_of(column->bytes);
}

TEST(Timeline, WorkKnowsWhyTheGpuWasIdleBeforeIt) {
  testing::HandMadeTrace capture;
  capture.kernel("gemm", 10'000, 20'000, 30'000);
  capture.kernel("gemm", 40'000, 50'000, 60'000);
  const trace::Trace trace = capture.freeze();
  analysis::Results results;
  const auto cause = static_cast<uint8_t>(analysis::BudgetPart::idle_host);
  results.idle_before.kernel = {analysis::IdleBefore::kNotIdle, cause};
  const auto timeline = make_timeline({{trace, results}});
  ASSERT_TRUE(timeline);
  const auto header = nlohmann::json::parse(timeline->header);
  EXPECT_EQ(column_bytes(*timeline, "slices.gap"), (std::vector<uint8_t>{0, cause + 1}));
  EXPECT_EQ(header["causes"][cause], "idle: host between launches");
  EXPECT_EQ(header["tracks"][0]["device"], "cuda:0");
}

TEST(JobClock, DriftKeepsTheOrder) {
  profile::RankClock fast;
  fast.offset_ns = {-7};
  fast.drift_ppm = -40;
  const job::JobClock clock(fast);
  EXPECT_EQ(clock.job_time(0), -7);
  EXPECT_EQ(clock.job_time(1'000'000), 1'000'000 - 7 - 40);
  Nanoseconds last = clock.job_time(0);
  for (Nanoseconds time = 1; time < 100'000; ++time) {
    const Nanoseconds next = clock.job_time(time);
    ASSERT_GE(next, last);
    last = next;
  }
}

}  // namespace
}  // namespace llmprof::exports
