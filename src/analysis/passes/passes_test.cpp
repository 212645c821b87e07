#include "analysis/analyze.h"

#include <gtest/gtest.h>

#include <set>

#include "analysis/ranking/open_ranges.h"
#include "testing/hand_made_trace.h"
#include "trace/builder.h"

namespace llmprof::analysis {
namespace {

// A hand-made capture: one process, one thread, one GPU unless a test adds more.
class ProfileTest : public ::testing::Test {
 protected:
  ProfileTest() {
    builder_.begin_capture({});
    process_ = builder_.process(1, 1);
    thread_ = builder_.thread(process_, 1, 1);
  }

  void kernel(std::string_view name, Nanoseconds start, Nanoseconds end, uint32_t device = 0,
              uint32_t correlation = 0, trace::Extent grid = {1, 1, 1}) {
    trace::KernelTable& kernels = builder_.trace().kernels;
    kernels.start.push_back(start);
    kernels.end.push_back(end);
    kernels.name.push_back(builder_.string(name));
    trace::LaunchShape shape;
    shape.grid = grid;
    shape.block = {128, 1, 1};
    kernels.shape.push_back(builder_.shape(shape));
    kernels.queue.push_back(builder_.queue({process_, builder_.device(device), 0, 7}));
    kernels.correlation.push_back(correlation);
  }

  void launch(uint32_t correlation, Nanoseconds start) {
    trace::LaunchTable& launches = builder_.trace().launches;
    launches.start.push_back(start);
    launches.end.push_back(start + 1);
    launches.thread.push_back(thread_);
    launches.api.push_back(builder_.string("cudaLaunchKernel"));
    launches.correlation.push_back(correlation);
  }

  void range(std::string_view text, Nanoseconds start, Nanoseconds end,
             std::string_view domain = "") {
    trace::RangeTable& ranges = builder_.trace().ranges;
    ranges.start.push_back(start);
    ranges.end.push_back(end);
    ranges.thread.push_back(thread_);
    ranges.domain.push_back(domain.empty() ? trace::StringId() : builder_.string(domain));
    ranges.text.push_back(builder_.string(text));
    ranges.kind.push_back(trace::RangeKind::push_pop);
  }

  void profiled(std::string_view name, trace::Extent grid, std::string_view ranges,
                Nanoseconds duration, double metric) {
    trace::Trace& trace = builder_.trace();
    trace::LaunchShape shape;
    shape.grid = grid;
    shape.block = {128, 1, 1};
    trace::ProfiledIdentity identity;
    identity.capture = builder_.capture_id();
    identity.name = builder_.string(name);
    identity.shape = builder_.shape(shape);
    identity.device = builder_.device(0);
    identity.ranges = builder_.string(ranges);
    const trace::IdentityId id = trace.identities.intern(identity);
    trace.profiled_launches.identity.push_back(id);
    trace.profiled_launches.duration.push_back(duration);
    const trace::MetricId dram =
        trace.metrics.intern({builder_.string("dram"), builder_.string("byte")});
    testing::add_metric_value(trace, {id, dram, 1, metric, metric, metric});
  }

  // Results of the passes, with their diagnostics.
  struct Analysis : Results {
    profile::Totals totals;
    std::set<std::string> diagnostics;  // codes
    explicit Analysis(Analyzed analyzed)
        : Results(std::move(analyzed.results)), totals(analyzed.profile.totals) {
      for (const Diagnostic& item : analyzed.profile.diagnostics) {
        diagnostics.insert(item.code);
      }
    }
  };

  Analysis profile() {
    const auto conf = config::ConfFiles::open(std::nullopt).value();
    const AnalysisRules rules{KernelRules::load(conf).value(), StageRules::load(conf).value(),
                              llm::GpuSpecs::load(conf).value(), EngineRules::load(conf).value()};
    trace_ = std::move(builder_).freeze();
    return Analysis(analyze(trace_, rules, {}).value());
  }

  trace::TraceBuilder builder_;
  trace::ProcessId process_;
  trace::ThreadId thread_;
  trace::Trace trace_;
};

TEST_F(ProfileTest, RanksByTotalTimePerDevice) {
  kernel("a", 0, 10);
  kernel("b", 20, 50);
  kernel("a", 60, 75);
  kernel("a", 60, 64, 1);
  const auto p = profile();
  ASSERT_EQ(p.ranking.rows.size(), 3U);
  EXPECT_EQ(p.ranking.source, KernelSource::timeline);
  EXPECT_EQ(trace_.strings[p.ranking.rows[0].name], "b");
  EXPECT_EQ(trace_.strings[p.ranking.rows[1].name], "a");
  EXPECT_EQ(p.ranking.rows[1].device, "cuda:0");
  EXPECT_EQ(p.ranking.rows[1].total, 25);
  EXPECT_EQ(p.ranking.rows[1].calls, 2U);
  EXPECT_DOUBLE_EQ(p.ranking.rows[1].mean().value, 12.5e-6);
  EXPECT_EQ(p.ranking.rows[2].device, "cuda:1");
  EXPECT_DOUBLE_EQ(p.ranking.rows[0].share, 30.0 / 59.0);
}

TEST_F(ProfileTest, CountsOverlapOnceInBusyTime) {
  kernel("a", 0, 10);
  kernel("b", 5, 20);   // overlaps
  kernel("c", 6, 8);    // inside
  kernel("d", 30, 40);  // after a gap
  kernel("e", 0, 7, 1);
  const auto p = profile();
  EXPECT_EQ(p.totals.kernel_sum_ns.value, 10 + 15 + 2 + 10 + 7);
  EXPECT_EQ(p.totals.gpu_busy, profile::to_milliseconds(Nanoseconds{20 + 10 + 7}));
  EXPECT_EQ(p.totals.span, profile::to_milliseconds(Nanoseconds{40}));
  ASSERT_EQ(p.totals.devices.size(), 2U);
  EXPECT_EQ(p.totals.devices[0].gpu_busy, profile::to_milliseconds(Nanoseconds{30}));
}

// 1..100: the nearest-rank median is 50, the 99th percentile 99.
TEST_F(ProfileTest, TakesPercentilesByNearestRank) {
  for (Nanoseconds i = 100; i >= 1; --i) kernel("k", i * 1000, i * 1000 + i);
  const auto p = profile();
  ASSERT_EQ(p.ranking.rows.size(), 1U);
  EXPECT_EQ(p.ranking.rows[0].min, 1);
  EXPECT_EQ(p.ranking.rows[0].p50, 50);
  EXPECT_EQ(p.ranking.rows[0].p99, 99);
  EXPECT_EQ(p.ranking.rows[0].max, 100);
}

TEST_F(ProfileTest, OpensRangesByThreadAndTime) {
  range("decode_all", 100, 200);
  range("decode_step", 110, 120);
  range("prefill", 10, 50, "LLM");
  range("never_closed", 300, trace::kOpenEnd);
  profile();
  const OpenRanges open(trace_);
  const auto path = [&](Nanoseconds time) { return open.path(open.at(thread_, time)); };
  EXPECT_EQ(path(5), "");
  EXPECT_EQ(path(10), "LLM@prefill");
  EXPECT_EQ(path(50), "");
  EXPECT_EQ(path(105), "decode_all");
  EXPECT_EQ(path(115), "decode_all/decode_step");
  EXPECT_EQ(path(120), "decode_all");
  EXPECT_EQ(path(1000000), "never_closed");
}

TEST_F(ProfileTest, TellsOfKernelsHiddenInGraphs) {
  kernel("a", 0, 100);
  range("decode_all", 150, 900);
  trace::GraphReplayTable& replays = builder_.trace().graph_replays;
  for (uint32_t i = 0; i < 3; ++i) {
    launch(50 + i, 200 + i);
    replays.start.push_back(300 + i * 200);
    replays.end.push_back(400 + i * 200);
    replays.queue.push_back(builder_.queue({process_, builder_.device(0), 0, 7}));
    replays.graph.push_back(1);
    replays.correlation.push_back(50 + i);
  }
  const auto p = profile();
  ASSERT_TRUE(p.totals.hidden_graphs);
  EXPECT_EQ(p.totals.hidden_graphs->replays, 3U);
  EXPECT_EQ(p.totals.hidden_graphs->total, profile::to_milliseconds(Nanoseconds{300}));
  EXPECT_DOUBLE_EQ(p.totals.hidden_graphs->share_of_gpu_time.value, 0.75);
  EXPECT_EQ(p.totals.hidden_graphs->launched_in, "decode_all");
  EXPECT_TRUE(p.diagnostics.contains("graph_kernels_missing"));
}

TEST_F(ProfileTest, JoinsMetricsByNameShapeAndRange) {
  range("prefill", 0, 50);
  range("decode_all", 100, 200);
  range("decode_step", 100, 200);
  launch(1, 10);
  launch(2, 110);
  launch(3, 120);
  kernel("void at::native::f<(int)4>(T1)", 12, 20, 0, 1, {8, 1, 1});
  kernel("void at::native::f<(int)4>(T1)", 112, 120, 0, 2, {8, 1, 1});
  kernel("void at::native::f<(int)4>(T1)", 122, 130, 0, 3, {9, 1, 1});
  profiled("void at::f<4>(T1)", {8, 1, 1}, "decode_all/decode_step", 7, 100);
  profiled("void at::f<4>(T1)", {8, 1, 1}, "decode_all/decode_step", 9, 300);
  profiled("void at::f<4>(T1)", {10, 1, 1}, "decode_all/decode_step", 9, 1);  // no such grid
  profiled("void at::f<4>(T1)", {9, 1, 1}, "prefill", 9, 1);                  // not in that range
  profiled("void g()", {8, 1, 1}, "prefill", 9, 1);                           // no such kernel
  const auto p = profile();
  ASSERT_TRUE(p.totals.metric_join);
  EXPECT_EQ(p.totals.metric_join->profiled_launches, 5U);
  EXPECT_EQ(p.totals.metric_join->joined, 2U);
  EXPECT_EQ(p.totals.metric_join->timeline_kernels_covered, 1U);
  EXPECT_TRUE(p.diagnostics.contains("profiled_launches_unjoined"));
  ASSERT_EQ(p.ranking.rows.size(), 1U);
  const profile::Metric& dram = p.ranking.rows[0].metrics.at("dram");
  EXPECT_EQ(dram.count, 2U);
  EXPECT_DOUBLE_EQ(dram.mean, 200);
  EXPECT_EQ(dram.min, 100);
  EXPECT_EQ(dram.unit, "byte");
  // Only joined launches count as measured: grid 8, not 9.
  const KernelRow& row = p.ranking.rows[0];
  EXPECT_EQ(p.ranking.measured_kernels, (std::vector<bool>{false, true, false}));
  EXPECT_EQ(row.measured_grids, 1U);
  EXPECT_EQ(row.commonest_grid, (trace::Extent{8, 1, 1}));
}

TEST_F(ProfileTest, RanksProfiledLaunchesWithoutATimeline) {
  profiled("f", {1, 1, 1}, "", 40, 1);
  profiled("f", {2, 1, 1}, "", 2, 1);
  profiled("g", {1, 1, 1}, "", trace::kUnknownDuration, 1);
  const auto p = profile();
  EXPECT_EQ(p.ranking.source, KernelSource::profiler);
  ASSERT_EQ(p.ranking.rows.size(), 1U);
  EXPECT_EQ(p.ranking.rows[0].total, 42);
  EXPECT_FALSE(p.totals.gpu_busy);
  EXPECT_EQ(p.totals.metric_join->joined, 3U);
}

TEST_F(ProfileTest, LeavesSummariesAsideWhereThereIsATimeline) {
  builder_.trace().kernel_summaries.push_back(
      {builder_.capture_id(), builder_.string("a"), {}, 5, 500, 100, 90, 110});
  kernel("a", 0, 10);
  const auto p = profile();
  EXPECT_EQ(p.ranking.total, 10);
  EXPECT_TRUE(p.diagnostics.contains("summary_left_aside"));
}

TEST_F(ProfileTest, RanksSummariesAlone) {
  builder_.trace().kernel_summaries.push_back(
      {builder_.capture_id(), builder_.string("a"), {}, 5, 500, 100, 90, 110});
  const auto p = profile();
  EXPECT_EQ(p.ranking.source, KernelSource::summary);
  ASSERT_EQ(p.ranking.rows.size(), 1U);
  EXPECT_EQ(p.ranking.rows[0].device, "cuda");
  EXPECT_FALSE(p.ranking.rows[0].p50);
  EXPECT_FALSE(p.totals.span);
}

}  // namespace
}  // namespace llmprof::analysis
