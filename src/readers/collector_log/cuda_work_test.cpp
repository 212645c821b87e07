// Kernels, memory operations, launches and graphs of a log.
#include <gtest/gtest.h>

#include <random>

#include "testing/readers/collector_log.h"
#include "testing/readers/read_collector_log.h"

namespace llmprof::readers {
namespace {

using testing::count_of;
using testing::message_of;
using testing::read_bytes;
using testing::read_or_fail;
using testing::TestLog;
using wire::RecordType;

enum Key : wire::StringKey {
  kDomain = 1,
  kDecode,
  kLayer,
  kAttention,
  kMangled,
  kPlain,
  kLaunchKernel,
  kLaunchGraph,
  kSynchronize
};
constexpr uint32_t kKernelCode = 1;
constexpr uint32_t kGraphCode = 2;
constexpr uint32_t kSyncCode = 3;

void add_names(TestLog& log) {
  log.chunk(wire::ChunkKind::strings, 0);
  log.add_text(kDomain, "LLM");
  log.add_text(kDecode, "decode_all");
  log.add_text(kLayer, "layer_03");
  log.add_text(kAttention, "attn");
  log.add_text(kMangled, "_Z4gemmPKfi");
  log.add_text(kPlain, "triton_poi_fused");
  log.add_text(kLaunchKernel, "cudaLaunchKernel");
  log.add_text(kLaunchGraph, "cudaGraphLaunch");
  log.add_text(kSynchronize, "cudaStreamSynchronize");
  log.add(RecordType::api_name, wire::ApiName{kLaunchKernel, kKernelCode});
  log.add(RecordType::api_name, wire::ApiName{kLaunchGraph, kGraphCode});
  log.add(RecordType::api_name, wire::ApiName{kSynchronize, kSyncCode});
}

void push(TestLog& log, int64_t time, wire::StringKey name, uint32_t depth,
          wire::StringKey domain = kDomain) {
  log.add(RecordType::range_push, wire::RangePush{time, name, domain, depth, 0});
}
void pop(TestLog& log, int64_t time, uint32_t depth, wire::StringKey domain = kDomain) {
  log.add(RecordType::range_pop, wire::RangePop{time, domain, depth});
}
void created(TestLog& log, uint64_t node) {
  log.add(RecordType::graph_node_created, wire::GraphNodeCreated{node});
}
void cloned(TestLog& log, uint64_t node, uint64_t original) {
  log.add(RecordType::graph_node_cloned, wire::GraphNodeCloned{node, original});
}
void launch(TestLog& log, int64_t start, uint32_t duration, uint32_t code, uint32_t correlation) {
  log.add(RecordType::launch,
          wire::Launch{start, (code << wire::kLaunchDurationBits) | duration, correlation});
}
void define_kernel(TestLog& log, wire::DefinitionKey key, wire::StringKey name, uint32_t graph = 0,
                   uint64_t node = 0) {
  wire::KernelDefinition definition{};
  definition.key = key;
  definition.name = name;
  definition.grid[0] = 4 * key;
  definition.block[0] = 128;
  definition.registers_per_thread = 64;
  definition.static_shared_bytes = 16;
  definition.dynamic_shared_bytes = 1024;
  definition.device = 1;
  definition.context = 2;
  definition.stream = 7;
  definition.graph = graph;
  definition.graph_node = node;
  log.add(RecordType::kernel_definition, definition);
}

TestLog empty_log(uint64_t chunks = 1) {
  TestLog log;
  log.header.chunk_bytes = 4 * wire::kSmallestChunkBytes;
  log.add(RecordType::clean_end, wire::CleanEnd{9000, 0, chunks});
  return log;
}

// Two launches and a long call on thread 7; the kernels precede them in the file, their definitions
// and all names follow.
TestLog eager_log() {
  TestLog log = empty_log(5);
  log.chunk(wire::ChunkKind::device, 0);
  log.add_kernels(1000, {{50, 30, 101, 1}, {-20, 5, 102, 2}});
  log.add(RecordType::long_kernel, wire::LongKernel{2000, 8'000'000'000, 103, 1});
  log.add(RecordType::memory_operation, wire::MemoryOperation{1500, 1600, 4096, 104, 1});
  log.add(RecordType::memory_operation, wire::MemoryOperation{1700, 1710, 64, 0, 2});
  log.thread_chunk(1, 7);
  launch(log, 900, 6, kKernelCode, 102);
  launch(log, 910, wire::kLongestLaunch, kKernelCode, 101);
  log.add(RecordType::api_call, wire::ApiCall{930, 99'000'000, 105, kSyncCode});
  log.chunk(wire::ChunkKind::device, 0);
  define_kernel(log, 1, kMangled);
  define_kernel(log, 2, kPlain);
  log.add(RecordType::memory_definition, wire::MemoryDefinition{1, 0, 8, 1, 2, 7, 0, 0, 0});
  log.add(RecordType::memory_definition, wire::MemoryDefinition{2, 1, 0, 1, 2, 9, 0, 0, 0});
  add_names(log);
  return log;
}

TEST(CollectorLogCuda, ReadsKernelsAndTheirLaunches) {
  const trace::Trace trace = read_or_fail(eager_log().bytes());
  const trace::KernelTable& kernels = trace.kernels;
  ASSERT_EQ(kernels.size(), 3U);
  EXPECT_EQ(kernels.start, (std::vector<Nanoseconds>{980, 1050, 2000}));
  EXPECT_EQ(kernels.end, (std::vector<Nanoseconds>{985, 1080, 8'000'000'000}));
  EXPECT_EQ(trace.strings[kernels.name[0]], "triton_poi_fused");
  EXPECT_EQ(trace.strings[kernels.name[1]], "gemm(float const*, int)");
  EXPECT_EQ(kernels.name[1], kernels.name[2]);
  const trace::LaunchShape& shape = trace.shapes[kernels.shape[0]];
  EXPECT_EQ(shape.grid, (trace::Extent{8, 0, 0}));
  EXPECT_EQ(shape.block, (trace::Extent{128, 0, 0}));
  EXPECT_EQ(shape.registers_per_thread, 64U);
  EXPECT_EQ(shape.static_shared_bytes, 16U);
  EXPECT_EQ(shape.dynamic_shared_bytes, 1024U);
  const trace::Queue& queue = trace.queues[kernels.queue[0]];
  EXPECT_EQ(trace.devices[queue.device.index()].ordinal, 1U);
  EXPECT_EQ(queue.context, 2U);
  EXPECT_EQ(queue.stream, 7U);
  ASSERT_EQ(trace.launches.size(), 3U);
  EXPECT_EQ(trace.launches.start, (std::vector<Nanoseconds>{900, 910, 930}));
  EXPECT_EQ(trace.launches.end, (std::vector<Nanoseconds>{906, 910 + 16'777'215, 99'000'000}));
  EXPECT_EQ(trace.strings[trace.launches.api[0]], "cudaLaunchKernel");
  EXPECT_EQ(trace.strings[trace.launches.api[2]], "cudaStreamSynchronize");
  EXPECT_EQ(trace.threads[trace.launches.thread[2].index()].tid, 7U);
  EXPECT_EQ(kernels.launch[0], trace::LaunchRow(0));
  EXPECT_EQ(kernels.launch[1], trace::LaunchRow(1));
  EXPECT_FALSE(kernels.launch[2].valid());
  EXPECT_TRUE(kernels.graph.empty() && kernels.graph_node.empty() && kernels.node_range.empty());
  EXPECT_FALSE(trace.diagnostics.has("collector_log_empty"));
}

TEST(CollectorLogCuda, ReadsMemoryOperationsAsNsysNamesThem) {
  const trace::Trace trace = read_or_fail(eager_log().bytes());
  const trace::MemoryOperationTable& memory = trace.memory_operations;
  ASSERT_EQ(memory.size(), 2U);
  EXPECT_EQ(memory.start, (std::vector<Nanoseconds>{1500, 1700}));
  EXPECT_EQ(memory.end, (std::vector<Nanoseconds>{1600, 1710}));
  EXPECT_EQ(memory.bytes, (std::vector<uint64_t>{4096, 64}));
  EXPECT_EQ(trace.strings[memory.detail[0]], "Device-to-Device");
  EXPECT_EQ(trace.strings[memory.detail[1]], "fill");
  EXPECT_EQ(memory.kind,
            (std::vector<trace::MemoryKind>{trace::MemoryKind::copy, trace::MemoryKind::set}));
  EXPECT_EQ(trace.queues[memory.queue[1]].stream, 9U);
}

TEST(CollectorLogCuda, ReadsReplaysWhoseKernelsAreNotRecorded) {
  TestLog log = empty_log();
  log.add(RecordType::graph_replay, wire::GraphReplay{100, 200, 5, 3, 1, 2, 7, 0});
  log.thread_chunk(1, 7);
  launch(log, 90, 5, kGraphCode, 5);
  add_names(log);
  const trace::Trace trace = read_or_fail(log.bytes());
  ASSERT_EQ(trace.graph_replays.size(), 1U);
  EXPECT_EQ(trace.graph_replays.end[0], 200);
  EXPECT_EQ(trace.graph_replays.graph[0], 3U);
  EXPECT_EQ(trace.graph_replays.launch[0], trace::LaunchRow(0));
  EXPECT_EQ(trace.queues[trace.graph_replays.queue[0]].stream, 7U);
}

// Correlations are unique only within a process: 101 is another launch in the other log.
TEST(CollectorLogCuda, SeveralProcessesKeepTheirLaunches) {
  const testing::TemporaryFolder folder;
  TestLog other = eager_log();
  other.header.process_id = 4712;
  trace::TraceBuilder builder;
  ASSERT_TRUE(kCollectorLogReader.read(folder.write("a", eager_log().bytes()), builder));
  ASSERT_TRUE(kCollectorLogReader.read(folder.write("b", other.bytes()), builder));
  const trace::Trace trace = std::move(builder).freeze();
  ASSERT_EQ(trace.kernels.size(), 6U);
  for (size_t i = 0; i < trace.kernels.size(); ++i) {
    const trace::LaunchRow call = trace.kernels.launch[i];
    if (!call.valid()) continue;
    const trace::ThreadId thread = trace.launches.thread[call.index()];
    EXPECT_EQ(trace.threads[thread.index()].process, trace.queues[trace.kernels.queue[i]].process);
    EXPECT_EQ(trace.launches.correlation[call.index()], trace.kernels.correlation[i]);
  }
  EXPECT_EQ(count_of(trace, "kernels_without_launch"), 2U);
}

// A CPU operator of the same process is not the kernel of a CUDA call.
TEST(CollectorLogCuda, OperatorsOfTheCpuHaveCorrelationsOfTheirOwn) {
  TestLog log = eager_log();
  log.thread_chunk(1, 7);
  log.add(RecordType::cpu_operator, wire::CpuOperator{10, 20, 1, 1, kPlain, 0});
  const trace::Trace trace = read_or_fail(log.bytes());
  ASSERT_EQ(trace.kernels.size(), 4U);
  const trace::LaunchRow call = trace.kernels.launch[0];
  ASSERT_TRUE(call.valid());
  EXPECT_EQ(trace.strings[trace.launches.api[call.index()]], "operator");
  EXPECT_GT(trace.kernels.correlation[0], 105U);
}

TEST(CollectorLogCuda, OperatorsOfTheCpuLeaveOutTheCorrelationsInUse) {
  TestLog log = empty_log(6);
  log.thread_chunk(1, 7);
  launch(log, 10, 5, kKernelCode, UINT32_MAX - 1);
  launch(log, 20, 5, kKernelCode, 2);
  for (int64_t i = 0; i < 3; ++i) {
    log.add(RecordType::cpu_operator,
            wire::CpuOperator{100 + i * 10, 105 + i * 10, 1, 1, kPlain, 0});
  }
  add_names(log);
  const trace::Trace trace = read_or_fail(log.bytes());
  EXPECT_EQ(trace.kernels.correlation, (std::vector<uint32_t>{UINT32_MAX, 1, 3}));
}

// Captured on thread 7: node 900 in layer_03/attn (in another domain), 901 in layer_03, 902 in
// decode_all, 903 outside. Thread 8 clones 900 and 901; its records precede the creation.
TestLog graph_log() {
  TestLog log = empty_log(6);
  log.thread_chunk(2, 8);
  cloned(log, 960, 950);  // a clone of a clone
  cloned(log, 950, 900);
  cloned(log, 951, 901);
  log.thread_chunk(1, 7);
  push(log, 10, kDecode, 0);
  push(log, 11, kLayer, 1);
  push(log, 12, kAttention, 0, 0);
  created(log, 900);
  pop(log, 13, 0, 0);
  created(log, 901);
  pop(log, 14, 1);
  created(log, 902);
  pop(log, 15, 0);
  created(log, 903);
  launch(log, 20, 5, kGraphCode, 201);
  log.chunk(wire::ChunkKind::device, 0);
  define_kernel(log, 1, kPlain, 3, 960);
  define_kernel(log, 2, kPlain, 3, 951);
  define_kernel(log, 3, kPlain, 3, 902);
  define_kernel(log, 4, kPlain, 3, 903);
  log.chunk(wire::ChunkKind::device, 0);
  define_kernel(log, 5, kPlain);
  define_kernel(log, 6, kPlain, 4, 777);  // never created in this log
  define_kernel(log, 7, kPlain, 5);       // from a graph, without a node
  log.add_kernels(100, {{0, 1, 201, 1},
                        {1, 1, 201, 2},
                        {2, 1, 201, 3},
                        {3, 1, 201, 4},
                        {4, 1, 201, 5},
                        {5, 1, 201, 6},
                        {6, 1, 201, 7},
                        {7, 1, 201, 6}});
  add_names(log);
  return log;
}

TEST(CollectorLogGraphs, KernelsHaveTheRangeOfTheirNodesCapture) {
  const trace::Trace trace = read_or_fail(graph_log().bytes());
  ASSERT_EQ(trace.kernels.size(), 8U);
  EXPECT_EQ(trace.kernels.graph, (std::vector<uint32_t>{3, 3, 3, 3, 0, 4, 5, 4}));
  EXPECT_EQ(trace.kernels.graph_node, (std::vector<uint64_t>{960, 951, 902, 903, 0, 777, 0, 777}));
  ASSERT_EQ(trace.kernels.node_range.size(), 8U);
  const auto range = [&](size_t kernel) {
    const trace::RangeRow row = trace.kernels.node_range[kernel];
    return row.valid() ? trace.strings[trace.ranges.text[row.index()]] : std::string_view("none");
  };
  EXPECT_EQ(range(0), "attn");
  EXPECT_EQ(range(1), "layer_03");
  EXPECT_EQ(range(2), "decode_all");
  for (size_t i = 3; i < 8; ++i) EXPECT_EQ(range(i), "none") << i;
  // Node 903 is known, outside any range; 777 and the kernel without a node are unknown.
  EXPECT_EQ(count_of(trace, "graph_built_before_attach"), 3U);
  EXPECT_NE(message_of(trace, "graph_built_before_attach").find("built before the collector"),
            std::string::npos);
}

// The first of replays 201 and 202 was overwritten. A kernel outside graphs that happens to have
// its correlation does not belong to it.
TEST(CollectorLogGraphs, ReplaysThatWereWrittenOverAreLeftOut) {
  TestLog log = empty_log(3);
  log.chunk(wire::ChunkKind::device, 0);
  define_kernel(log, 1, kPlain, 3, 960);
  define_kernel(log, 2, kPlain);
  log.add_kernels(100, {{0, 1, 201, 1}, {10, 1, 201, 1}, {20, 1, 202, 1}, {30, 1, 201, 2}});
  log.add(RecordType::replay_overwritten, wire::ReplayOverwritten{201, 0});
  add_names(log);
  const trace::Trace trace = read_or_fail(log.bytes());
  EXPECT_EQ(trace.kernels.correlation, (std::vector<uint32_t>{202, 201}));
  EXPECT_EQ(trace.kernels.start, (std::vector<Nanoseconds>{120, 130}));
  EXPECT_EQ(count_of(trace, "collector_replays_overwritten"), 2U);
}

TEST(CollectorLogGraphs, ACircleOfClonesEnds) {
  TestLog log = empty_log();
  log.thread_chunk(1, 7);
  cloned(log, 1, 2);
  cloned(log, 2, 1);
  cloned(log, 3, 3);  // impossible
  log.chunk(wire::ChunkKind::device, 0);
  define_kernel(log, 1, kPlain, 3, 1);
  log.add_kernels(100, {{0, 1, 0, 1}});
  add_names(log);
  const trace::Trace trace = read_or_fail(log.bytes());
  EXPECT_EQ(trace.kernels.size(), 1U);
  EXPECT_EQ(count_of(trace, "graph_built_before_attach"), 1U);
  EXPECT_EQ(count_of(trace, "collector_log_bad_values"), 1U);
}

TEST(CollectorLogCuda, ColumnsOfGraphsFollowLogsWithoutAny) {
  const testing::TemporaryFolder folder;
  trace::TraceBuilder builder;
  for (const std::string& bytes : {eager_log().bytes(), graph_log().bytes(), eager_log().bytes()}) {
    ASSERT_TRUE(kCollectorLogReader.read(folder.write("log", bytes), builder));
  }
  const trace::Trace trace = std::move(builder).freeze();
  ASSERT_EQ(trace.kernels.size(), 14U);
  ASSERT_EQ(trace.kernels.graph.size(), 14U);
  ASSERT_EQ(trace.kernels.node_range.size(), 14U);
  size_t with_range = 0;
  for (size_t i = 0; i < 14; ++i) {
    const trace::RangeRow row = trace.kernels.node_range[i];
    if (!row.valid()) continue;
    ++with_range;
    EXPECT_EQ(trace.kernels.graph[i], 3U);
    EXPECT_EQ(trace.threads[trace.ranges.thread[row.index()].index()].process,
              trace.queues[trace.kernels.queue[i]].process);
  }
  EXPECT_EQ(with_range, 3U);
}

TEST(CollectorLogCuda, ImpossibleValuesAreLeftOut) {
  TestLog log = eager_log();
  log.chunk(wire::ChunkKind::device, 0);
  log.add_kernels(10, {{-11, 5, 1, 1}, {0, 5, 1, 0}, {1, 5, 1, 1}});  // before 0; no definition
  log.add(RecordType::kernels, wire::KernelBatch{10, 1U << 30U, 0});
  log.add_kernels(-1, {{0, 1, 1, 1}});
  log.add_kernels(INT64_MAX - 5, {{INT32_MAX, UINT32_MAX, 1, 1}});
  log.add(RecordType::long_kernel, wire::LongKernel{20, 10, 1, 1});
  log.add(RecordType::memory_operation, wire::MemoryOperation{20, 10, 1, 1, 1});
  log.add(RecordType::memory_definition, wire::MemoryDefinition{9, 2, 0, 1, 2, 7, 0, 0, 0});
  log.add(RecordType::graph_replay, wire::GraphReplay{-2, 10, 1, 1, 1, 1, 1, 0});
  log.add(RecordType::api_call, wire::ApiCall{9, 8, 1, 1});
  launch(log, INT64_MAX - 1, 9, kKernelCode, 1);
  created(log, 0);
  log.add_bytes(RecordType::kernel_definition, "short");
  const trace::Trace trace = read_or_fail(log.bytes());
  EXPECT_EQ(trace.kernels.size(), 4U);
  EXPECT_EQ(trace.memory_operations.size(), 2U);
  EXPECT_EQ(trace.graph_replays.size(), 0U);
  EXPECT_EQ(trace.launches.size(), 3U);
  EXPECT_EQ(count_of(trace, "collector_log_bad_values"), 13U);
}

TEST(CollectorLogCudaDamage, LostDefinitionsCostTheirRows) {
  TestLog log = eager_log();
  log.chunk(wire::ChunkKind::device, 0);
  // Large keys are found like small ones.
  define_kernel(log, 4'000'000'000, kPlain);
  log.add_kernels(5000, {{0, 1, 1, 3}, {10, 1, 1, 4'000'000'000}, {20, 1, 1, 3'999'999'999}});
  log.add(RecordType::memory_operation, wire::MemoryOperation{1, 2, 3, 4, 55});
  const trace::Trace trace = read_or_fail(log.bytes());
  EXPECT_EQ(trace.kernels.start, (std::vector<Nanoseconds>{980, 1050, 2000, 5010}));
  EXPECT_EQ(trace.strings[trace.kernels.name[3]], "triton_poi_fused");
  EXPECT_EQ(trace.memory_operations.size(), 2U);
  EXPECT_EQ(count_of(trace, "collector_log_lost_definitions"), 3U);
}

TEST(CollectorLogCudaDamage, LostNamesKeepTheirRows) {
  std::string bytes = eager_log().bytes();
  bytes.resize(bytes.size() - 4UL * wire::kSmallestChunkBytes);  // the last chunk: names
  const trace::Trace trace = read_or_fail(bytes);
  ASSERT_EQ(trace.kernels.size(), 3U);
  EXPECT_EQ(trace.strings[trace.kernels.name[0]], "(name lost)");
  ASSERT_EQ(trace.launches.size(), 3U);
  EXPECT_EQ(trace.strings[trace.launches.api[0]], "(name lost)");
  EXPECT_EQ(count_of(trace, "collector_log_lost_names"), 2U + 3U);  // two kernels, three calls
}

TEST(CollectorLogCudaDamage, EveryTruncation) {
  for (const std::string& whole : {eager_log().bytes(), graph_log().bytes()}) {
    for (size_t kept = sizeof(wire::FileHeader); kept < whole.size(); kept += 7) {
      const auto trace = read_bytes(std::string_view(whole).substr(0, kept));
      ASSERT_TRUE(trace) << kept;
      ASSERT_LE(trace->kernels.size(), 8U);
      ASSERT_EQ(count_of(*trace, "collector_log_bad_values"), 0U) << kept;
      ASSERT_TRUE(trace->diagnostics.has("collector_log_truncated")) << kept;
    }
  }
}

TEST(CollectorLogCudaDamage, FlippedBytes) {
  const std::string whole = graph_log().bytes();
  std::mt19937 random(7);
  std::uniform_int_distribution<size_t> place(sizeof wire::kFileMagic, whole.size() - 1);
  for (int round = 0; round < 1000; ++round) {
    std::string damaged = whole;
    for (int i = 0; i <= round % 4; ++i) damaged[place(random)] = static_cast<char>(random());
    const auto trace = read_bytes(damaged);
    if (!trace) continue;
    // Damage never creates rows.
    ASSERT_LE(trace->kernels.size(), 8U);
    ASSERT_LE(trace->launches.size(), 1U);
  }
}

}  // namespace
}  // namespace llmprof::readers
