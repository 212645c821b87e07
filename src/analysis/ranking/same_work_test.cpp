#include <gtest/gtest.h>

#include "analysis/ranking/same_work.h"
#include "testing/hand_made_trace.h"
#include "testing/read_capture.h"
#include "testing/shared_captures.h"
#include "trace/builder.h"

namespace llmprof::analysis {
namespace {

// Hand-made captures of the same work.
class SameWork : public ::testing::Test {
 protected:
  void capture(std::string path, std::string gpu = "NVIDIA H200", std::string uuid = "") {
    trace::Capture made;
    made.path = std::move(path);
    builder_.begin_capture(made);
    process_ = builder_.process(1, 1);
    trace::Device& device = builder_.device_info(builder_.device(0));
    device.name = std::move(gpu);
    device.uuid = std::move(uuid);
  }

  void kernel(std::string_view name, Nanoseconds start, Nanoseconds end) {
    trace::KernelTable& kernels = builder_.trace().kernels;
    kernels.start.push_back(start);
    kernels.end.push_back(end);
    kernels.name.push_back(builder_.string(name));
    kernels.shape.push_back(builder_.shape({}));
    kernels.queue.push_back(builder_.queue({process_, builder_.device(0), 0, 7}));
    kernels.correlation.push_back(0);
  }

  void range() {
    trace::RangeTable& ranges = builder_.trace().ranges;
    ranges.start.push_back(0);
    ranges.end.push_back(100);
    ranges.thread.push_back(builder_.thread(process_, 1, 1));
    ranges.domain.emplace_back();
    ranges.text.push_back(builder_.string("prefill"));
    ranges.kind.push_back(trace::RangeKind::push_pop);
  }

  void profiled(std::string_view name, uint32_t grid, Nanoseconds duration,
                std::string_view metric) {
    trace::Trace& trace = builder_.trace();
    trace::LaunchShape shape;
    shape.grid = {grid, 1, 1};
    trace::ProfiledIdentity identity;
    identity.capture = builder_.capture_id();
    identity.name = builder_.string(name);
    identity.shape = builder_.shape(shape);
    identity.device = builder_.device(0);
    const trace::IdentityId id = trace.identities.intern(identity);
    trace.profiled_launches.identity.push_back(id);
    trace.profiled_launches.duration.push_back(duration);
    const trace::MetricId of =
        trace.metrics.intern({builder_.string(metric), builder_.string("%")});
    testing::add_metric_value(trace, {id, of, 1, 10, 10, 10});
  }

  trace::Trace freeze() { return std::move(builder_).freeze(); }

  trace::TraceBuilder builder_;
  trace::ProcessId process_;
  Diagnostics diagnostics_;
};

TEST_F(SameWork, PagesOfOneProfilerRunCountOnce) {
  capture("details.csv", "");
  profiled("void at::f<4>(T1)", 8, 1230, "Compute");
  profiled("g", 8, 1500, "Compute");
  capture("raw.csv");
  profiled("void at::native::f<(int)4>(T1)", 8, 1234, "sm__throughput");
  profiled("g", 8, 1498, "sm__throughput");
  trace::Trace trace = freeze();
  merge_profiled_twice(trace, diagnostics_);
  EXPECT_EQ(trace.profiled_launches.duration, (std::vector<Nanoseconds>{1234, 1498}));
  EXPECT_EQ(trace.metric_values.size(), 4U);
  for (const trace::MetricValues& values : trace.metric_values) {
    EXPECT_EQ(trace.identities[values.identity].capture, trace::CaptureId(1));
    EXPECT_EQ(values.count, 1U);
  }
  ASSERT_EQ(diagnostics_.items().size(), 1U);
  EXPECT_EQ(diagnostics_.items()[0].code, "profiled_twice");
  EXPECT_EQ(diagnostics_.items()[0].count, 2U);
}

TEST_F(SameWork, AMetricOfBothPagesIsTakenOnce) {
  capture("a.csv");
  profiled("f", 8, 1234, "same");
  capture("b.csv");
  profiled("f", 8, 1230, "same");
  trace::Trace trace = freeze();
  merge_profiled_twice(trace, diagnostics_);
  ASSERT_EQ(trace.metric_values.size(), 1U);
  EXPECT_EQ(trace.metric_values[0].count, 1U);
}

TEST_F(SameWork, OtherProfilerRunsStayApart) {
  capture("first.csv");
  profiled("f", 8, 1234, "m");
  capture("slower.csv");
  profiled("f", 8, 1300, "m");
  capture("other_grid.csv");
  profiled("f", 9, 1234, "m");
  capture("other_kernel.csv");
  profiled("h", 8, 1234, "m");
  capture("more.csv");
  profiled("f", 8, 1234, "m");
  profiled("f", 8, 1234, "m");
  trace::Trace trace = freeze();
  merge_profiled_twice(trace, diagnostics_);
  EXPECT_EQ(trace.profiled_launches.size(), 6U);
  EXPECT_TRUE(diagnostics_.items().empty());
}

TEST_F(SameWork, ATimelineGivenTwiceIsLeftOut) {
  capture("trace.csv");
  kernel("f", 1000, 1010);
  kernel("g", 1020, 1050);
  capture("nsys.sqlite");
  range();
  kernel("g", 20, 50);
  kernel("f", 0, 10);
  trace::Trace trace = freeze();
  drop_repeated_timelines(trace, diagnostics_);
  EXPECT_EQ(trace.kernels.start, (std::vector<Nanoseconds>{0, 20}));
  EXPECT_EQ(trace.ranges.size(), 1U);
  EXPECT_EQ(trace.queues.size(), 1U);
  EXPECT_EQ(trace.device_of(trace.kernels.queue[0]).capture, trace::CaptureId(1));
  ASSERT_EQ(diagnostics_.items().size(), 1U);
  EXPECT_EQ(diagnostics_.items()[0].code, "timeline_twice");
  EXPECT_EQ(diagnostics_.items()[0].message.find("trace.csv"), 0U);
  EXPECT_EQ(runs_on_one_gpu(trace), 1U);
}

TEST_F(SameWork, AnotherRunStaysAndIsOnTheSameGpu) {
  capture("first.sqlite");
  kernel("f", 0, 10);
  capture("second.sqlite");
  kernel("f", 0, 11);
  trace::Trace trace = freeze();
  drop_repeated_timelines(trace, diagnostics_);
  EXPECT_EQ(trace.kernels.size(), 2U);
  EXPECT_TRUE(diagnostics_.items().empty());
  EXPECT_EQ(gpus_with_kernels(trace).size(), 1U);
  EXPECT_EQ(runs_on_one_gpu(trace), 2U);
}

// One spells the uuid differently, another lacks the GPU's name.
TEST_F(SameWork, OneGpuInSeveralTimelinesIsOne) {
  capture("nsys.sqlite", "NVIDIA H200", "3d79c6fb-8838-e918");
  kernel("f", 0, 10);
  capture("log.llmtrace", "NVIDIA H200", "GPU-3D79C6FB-8838-E918");
  kernel("f", 0, 11);
  capture("trace.json", "");
  kernel("f", 0, 12);
  const trace::Trace trace = freeze();
  EXPECT_EQ(gpus_with_kernels(trace).size(), 1U);
  EXPECT_EQ(runs_on_one_gpu(trace), 3U);
}

TEST_F(SameWork, RanksAndUuidsTellGpusApart) {
  capture("rank0.json");
  builder_.capture().rank = 0;
  kernel("f", 0, 10);
  capture("rank1.json");
  builder_.capture().rank = 1;
  kernel("f", 0, 11);
  capture("node0.sqlite", "NVIDIA H100", "GPU-a");
  kernel("f", 0, 12);
  capture("node1.sqlite", "NVIDIA H100", "GPU-b");
  kernel("f", 0, 13);
  const trace::Trace trace = freeze();
  EXPECT_EQ(gpus_with_kernels(trace).size(), 4U);
  EXPECT_EQ(runs_on_one_gpu(trace), 1U);
}

trace::Trace read_all(const std::filesystem::path& folder, const std::vector<std::string>& files) {
  std::vector<std::filesystem::path> paths;
  for (const std::string& file : files) paths.push_back(folder / file);
  auto trace = testing::read_captures(paths);
  EXPECT_TRUE(trace);
  return trace ? std::move(*trace) : trace::Trace();
}

// README: both pages are from one run of 120 launches.
TEST_F(SameWork, RawAndDetailsPagesOfACapture) {
  const auto captures = testing::h200_captures();
  const auto folder = captures / "h200-llama-eager";
  const trace::Trace raw = read_all(folder, {"ncu_decode_raw.csv.gz"});
  trace::Trace both = read_all(folder, {"ncu_decode_details.csv.gz", "ncu_decode_raw.csv.gz"});
  ASSERT_EQ(both.profiled_launches.size(), 240U);
  merge_profiled_twice(both, diagnostics_);
  EXPECT_EQ(both.profiled_launches.duration, raw.profiled_launches.duration);
  EXPECT_GT(both.metric_values.size(), raw.metric_values.size());
}

// The trace report was generated from the node-level capture; the graph-level one is another run.
TEST_F(SameWork, ACaptureAndItsOwnTraceReport) {
  const auto captures = testing::h200_captures();
  trace::Trace trace =
      read_all(captures / "h200-dense-graph",
               {"nsys_node_cuda_gpu_trace.csv.gz", "nsys_graph.sqlite", "nsys_node.sqlite"});
  const size_t with_report = trace.kernels.size();
  drop_repeated_timelines(trace, diagnostics_);
  const trace::Trace alone = read_all(captures / "h200-dense-graph", {"nsys_node.sqlite"});
  EXPECT_EQ(with_report - trace.kernels.size(), alone.kernels.size());
  EXPECT_TRUE(diagnostics_.has("timeline_twice"));
  EXPECT_EQ(gpus_with_kernels(trace).size(), 1U);
  EXPECT_EQ(runs_on_one_gpu(trace), 2U);
}

}  // namespace
}  // namespace llmprof::analysis
