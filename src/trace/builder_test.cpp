#include "trace/builder.h"

#include <gtest/gtest.h>

#include <random>

#include "testing/hand_made_trace.h"
#include "trace/append.h"

namespace llmprof::trace {
namespace {

void add_kernel(TraceBuilder& builder, QueueId queue, Nanoseconds start, Nanoseconds end,
                uint32_t correlation) {
  KernelTable& kernels = builder.trace().kernels;
  kernels.start.push_back(start);
  kernels.end.push_back(end);
  kernels.name.push_back(builder.string("k" + std::to_string(start)));
  kernels.shape.push_back(builder.shape({}));
  kernels.queue.push_back(queue);
  kernels.correlation.push_back(correlation);
}

void add_launch(TraceBuilder& builder, ThreadId thread, uint32_t correlation,
                Nanoseconds start = 0) {
  LaunchTable& launches = builder.trace().launches;
  launches.start.push_back(start);
  launches.end.push_back(start + 1);
  launches.thread.push_back(thread);
  launches.api.push_back(builder.string("cudaLaunchKernel"));
  launches.correlation.push_back(correlation);
}

TEST(StringPool, InternsOnceAndKeepsViews) {
  StringPool pool;
  const StringId first = pool.intern("a");
  const std::string_view view = pool[first];
  for (int i = 0; i < 10000; ++i) pool.intern("text " + std::to_string(i));
  const StringPool moved = std::move(pool);
  EXPECT_EQ(moved[first].data(), view.data());
  EXPECT_EQ(moved[StringId()], "");
}

TEST(StringPool, CopiesOwnTheirTexts) {
  StringPool pool;
  const StringId id = pool.intern("void gemm<float>(float*, float*)");
  StringPool copy;
  copy.intern("replaced");
  copy = pool;
  EXPECT_EQ(copy.size(), 1U);
  EXPECT_EQ(copy[id], pool[id]);
  EXPECT_NE(copy[id].data(), pool[id].data());
  EXPECT_EQ(copy.intern("void gemm<float>(float*, float*)"), id);
  EXPECT_EQ(copy.intern("next"), StringId(1));
  EXPECT_EQ(pool.size(), 1U);
}

TEST(Interner, NumbersDistinctValuesInOrder) {
  Interner<ShapeId, LaunchShape> shapes;
  for (uint32_t round = 0; round < 3; ++round) {
    for (uint32_t i = 0; i < 5000; ++i) {
      LaunchShape shape;
      shape.grid = {i, 1, 1};
      EXPECT_EQ(shapes.intern(shape).index(), i);
    }
  }
  EXPECT_EQ(shapes.size(), 5000U);
}

TEST(Builder, GivesOneIdPerKeyOfACapture) {
  TraceBuilder builder;
  builder.begin_capture({});
  const DeviceId first = builder.device(0);
  EXPECT_EQ(builder.device(0), first);
  EXPECT_EQ(builder.process(7, 7), builder.process(7, 7));
  builder.begin_capture({});
  EXPECT_NE(builder.device(0), first);
}

TEST(Builder, OrdersKernelsWithAllTheirColumns) {
  TraceBuilder builder;
  builder.begin_capture({});
  const QueueId queue = builder.queue({builder.process(1, 1), builder.device(0), 0, 0});
  std::mt19937_64 random(3);
  constexpr size_t kCount = 200000;  // enough for the threaded sort
  for (size_t i = 0; i < kCount; ++i) {
    const auto start = static_cast<Nanoseconds>(random() % 1000000);
    add_kernel(builder, queue, start, start + 5, static_cast<uint32_t>(start));
  }
  const Trace trace = std::move(builder).freeze();
  for (size_t i = 0; i < kCount; ++i) {
    EXPECT_LE(trace.kernels.start[i == 0 ? 0 : i - 1], trace.kernels.start[i]);
    EXPECT_EQ(trace.kernels.end[i], trace.kernels.start[i] + 5);
    EXPECT_EQ(trace.kernels.correlation[i], trace.kernels.start[i]);
  }
}

// Merges captures that are each in order; rows with the same start keep their order.
TEST(Builder, OrdersKernelsOfSeveralCaptures) {
  for (const size_t captures : {2U, 3U, 64U, 65U, 100U}) {
    TraceBuilder builder;
    builder.begin_capture({});
    const QueueId queue = builder.queue({builder.process(1, 1), builder.device(0), 0, 0});
    std::vector<std::pair<Nanoseconds, uint32_t>> expected;  // start, order of arrival
    uint32_t came = 0;
    for (size_t capture = 0; capture < captures; ++capture) {
      for (Nanoseconds i = 0; i < 50; ++i) {
        const Nanoseconds start = i / 2 * 6 + static_cast<Nanoseconds>(capture % 4);
        expected.emplace_back(start, ++came);
        add_kernel(builder, queue, start, start + 1, came);
      }
    }
    std::sort(expected.begin(), expected.end());
    const Trace trace = std::move(builder).freeze();
    ASSERT_EQ(trace.kernels.size(), expected.size());
    for (size_t i = 0; i < expected.size(); ++i) {
      ASSERT_EQ(trace.kernels.start[i], expected[i].first);
      ASSERT_EQ(trace.kernels.correlation[i], expected[i].second);
    }
  }
}

TEST(Builder, JoinsLaunchesWithinAProcess) {
  TraceBuilder builder;
  builder.begin_capture({});
  const ProcessId one = builder.process(1, 1);
  const ProcessId two = builder.process(2, 2);
  const DeviceId device = builder.device(0);
  add_launch(builder, builder.thread(one, 11, 11), 5);
  add_launch(builder, builder.thread(two, 22, 22), 5);
  add_launch(builder, builder.thread(two, 22, 22), 4000000000U);  // far apart: not in the array
  add_launch(builder, builder.thread(one, 11, 11), 5);            // the driver call inside
  add_kernel(builder, builder.queue({one, device, 0, 0}), 10, 20, 5);
  add_kernel(builder, builder.queue({two, device, 0, 0}), 11, 20, 5);
  add_kernel(builder, builder.queue({two, device, 0, 0}), 12, 20, 4000000000U);
  add_kernel(builder, builder.queue({one, device, 0, 0}), 13, 20, 6);
  add_kernel(builder, builder.queue({one, device, 0, 0}), 14, 20, 0);
  const Trace trace = std::move(builder).freeze();
  EXPECT_EQ(trace.kernels.launch[0], LaunchRow(0));
  EXPECT_EQ(trace.kernels.launch[1], LaunchRow(1));
  EXPECT_EQ(trace.kernels.launch[2], LaunchRow(2));
  EXPECT_FALSE(trace.kernels.launch[3].valid());
  EXPECT_FALSE(trace.kernels.launch[4].valid());
  ASSERT_TRUE(trace.diagnostics.has("kernels_without_launch"));
  EXPECT_EQ(trace.diagnostics.items()[0].count, 2U);
}

TEST(Builder, JoinsTheLastOfLaunchesWhoseCorrelationCameAgain) {
  for (const uint32_t correlation : {5U, 4'000'000'000U}) {  // with the array, and without
    TraceBuilder builder;
    builder.begin_capture({});
    const ProcessId process = builder.process(1, 1);
    const ThreadId thread = builder.thread(process, 11, 11);
    const QueueId queue = builder.queue({process, builder.device(0), 0, 0});
    for (const Nanoseconds start : {500, 100, 900}) {
      add_launch(builder, thread, correlation, start);
    }
    for (const Nanoseconds start : {50, 110, 499, 500, 899, 5000}) {
      add_kernel(builder, queue, start, start + 5, correlation);
    }
    const Trace trace = std::move(builder).freeze();
    const std::vector<LaunchRow> expected = {LaunchRow(1), LaunchRow(1), LaunchRow(1),
                                             LaunchRow(0), LaunchRow(0), LaunchRow(2)};
    // The first kernel started before all calls, as with clocks that disagree: any call will do.
    EXPECT_TRUE(trace.kernels.launch[0].valid());
    for (size_t i = 1; i < expected.size(); ++i) EXPECT_EQ(trace.kernels.launch[i], expected[i]);
  }
}

TEST(Builder, AddsUpMetricValues) {
  TraceBuilder builder;
  testing::add_metric_value(builder.trace(), {IdentityId(1), MetricId(0), 1, 4, 4, 4});
  testing::add_metric_value(builder.trace(), {IdentityId(0), MetricId(0), 1, 9, 9, 9});
  testing::add_metric_value(builder.trace(), {IdentityId(1), MetricId(0), 2, 6, 1, 5});
  const Trace trace = std::move(builder).freeze();
  ASSERT_EQ(trace.metric_values.size(), 2U);
  EXPECT_EQ(trace.metric_values[0].identity, IdentityId(0));
  EXPECT_EQ(trace.metric_values[1].count, 3U);
  EXPECT_EQ(trace.metric_values[1].sum, 10);
  EXPECT_EQ(trace.metric_values[1].min, 1);
  EXPECT_EQ(trace.metric_values[1].max, 5);
}

TEST(Builder, OrdersCountersBySeriesAndTime) {
  TraceBuilder builder;
  CounterTable& counters = builder.trace().counters;
  const auto add = [&](uint32_t device, uint32_t metric, Nanoseconds start, double value) {
    counters.start.push_back(start);
    counters.end.push_back(start + 5);
    counters.device.emplace_back(device);
    counters.metric.emplace_back(metric);
    counters.value.push_back(value);
  };
  add(1, 0, 10, 1);
  add(0, 1, 10, 2);
  add(0, 0, 30, 3);
  add(0, 0, 20, 4);  // from another thread's buffer
  add(1, 0, 20, 5);
  add(0, 1, 10, 6);
  const Trace trace = std::move(builder).freeze();
  EXPECT_EQ(trace.counters.value, (std::vector<double>{4, 3, 2, 6, 1, 5}));
  EXPECT_EQ(trace.counters.start, (std::vector<Nanoseconds>{20, 30, 10, 10, 10, 20}));
  EXPECT_EQ(trace.counters.end, (std::vector<Nanoseconds>{25, 35, 15, 15, 15, 25}));
  EXPECT_EQ(trace.counters.device[3], DeviceId(0));
  EXPECT_EQ(trace.counters.metric[3], MetricId(1));
  EXPECT_EQ(trace.counters.device[4], DeviceId(1));
}

TEST(Builder, OrdersTracingByProcessAndTime) {
  TraceBuilder builder;
  TracingTable& tracing_changes = builder.trace().tracing_changes;
  tracing_changes.time = {30, 10, 20};
  tracing_changes.process = {ProcessId(0), ProcessId(1), ProcessId(0)};
  tracing_changes.state = {TracingState::detached, TracingState::paused, TracingState::tracing};
  tracing_changes.reason.resize(3);
  tracing_changes.step = {3, 1, 2};
  tracing_changes.cost.resize(3);
  const Trace trace = std::move(builder).freeze();
  EXPECT_EQ(trace.tracing_changes.time, (std::vector<Nanoseconds>{20, 30, 10}));
  EXPECT_EQ(trace.tracing_changes.step, (std::vector<uint64_t>{2, 3, 1}));
  EXPECT_EQ(trace.tracing_changes.state[2], TracingState::paused);
}

TEST(Append, FillsColumnsThatOnlyOneSideKnows) {
  KernelTable first;
  first.start = {1, 2};
  first.end = {3, 4};
  KernelTable second;
  second.start = {5};
  second.end = {6};
  second.graph = {7};
  append_rows(first, second);
  EXPECT_EQ(first.start, (std::vector<Nanoseconds>{1, 2, 5}));
  EXPECT_EQ(first.graph, (std::vector<uint32_t>{0, 0, 7}));
  KernelTable third;
  third.start = {8};
  third.end = {9};
  append_rows(first, third);
  EXPECT_EQ(first.graph, (std::vector<uint32_t>{0, 0, 7, 0}));
  EXPECT_TRUE(first.graph_node.empty());
}

// 10 million kernels must fit in well under 2 GB, including launches.
TEST(KernelTable, IsSmall) {
  const KernelTable table;
  constexpr size_t kBytesPerKernel =
      sizeof(table.start[0]) + sizeof(table.end[0]) + sizeof(table.name[0]) +
      sizeof(table.shape[0]) + sizeof(table.queue[0]) + sizeof(table.correlation[0]) +
      sizeof(table.launch[0]) + sizeof(table.graph[0]) + sizeof(table.graph_node[0]);
  EXPECT_LE(kBytesPerKernel, 64U);
}

}  // namespace
}  // namespace llmprof::trace
