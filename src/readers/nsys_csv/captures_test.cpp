// Real reports. The expected sums come from Python's csv.DictReader over the same files:
// sum(int(row[column]) for row in reader).
#include <gtest/gtest.h>

#include "base/streams/byte_stream.h"
#include "readers/shared/reader.h"
#include "testing/shared_captures.h"

namespace llmprof::readers {
namespace {

trace::Trace read_capture(const std::filesystem::path& path) {
  trace::TraceBuilder builder;
  const auto done = kNsysCsvReader.read(path, builder);
  EXPECT_TRUE(done.has_value()) << done.error().message;
  return std::move(builder).freeze();
}

struct Sums {
  size_t rows = 0;
  uint64_t calls = 0;
  Nanoseconds total = 0;

  friend bool operator==(const Sums&, const Sums&) = default;
};

Sums kernel_sums(const trace::Trace& trace) {
  Sums sums;
  for (const trace::KernelSummary& summary : trace.kernel_summaries) {
    ++sums.rows;
    sums.calls += summary.calls;
    sums.total += summary.total;
  }
  return sums;
}

Sums call_sums(const trace::Trace& trace, trace::CallSummary::Kind kind) {
  Sums sums;
  for (const trace::CallSummary& summary : trace.call_summaries) {
    if (summary.kind != kind) continue;
    ++sums.rows;
    sums.calls += summary.calls;
    sums.total += summary.total;
  }
  return sums;
}

TEST(NsysCsvCaptures, LlamaEager) {
  const auto captures = testing::h200_captures();
  const auto folder = captures / "h200-llama-eager";
  const trace::Trace kernels = read_capture(folder / "nsys_cuda_gpu_kern_sum.csv");
  EXPECT_EQ(kernel_sums(kernels), (Sums{48, 15512, 57331089}));
  EXPECT_DOUBLE_EQ(kernels.kernel_summaries[0].median, 10976.0);
  EXPECT_EQ(kernels.kernel_summaries[0].max, 12096);
  EXPECT_EQ(
      call_sums(read_capture(folder / "nsys_cuda_api_sum.csv"), trace::CallSummary::Kind::api),
      (Sums{32, 36731, 742767200}));
  const trace::Trace ranges = read_capture(folder / "nsys_nvtx_sum.csv");
  EXPECT_EQ(call_sums(ranges, trace::CallSummary::Kind::range), (Sums{3, 24, 5018908790}));
  EXPECT_EQ(ranges.strings[ranges.call_summaries[1].name], "decode_step");
  EXPECT_EQ(call_sums(read_capture(folder / "nsys_nvtx_kern_sum.csv"),
                      trace::CallSummary::Kind::kernel_in_range),
            (Sums{100, 29392, 95976111}));
  EXPECT_EQ(call_sums(read_capture(folder / "nsys_nvtx_gpu_proj_sum.csv"),
                      trace::CallSummary::Kind::range_on_gpu),
            (Sums{3, 24, 4831080833}));
}

TEST(NsysCsvCaptures, DenseGraphSummaries) {
  const auto captures = testing::h200_captures();
  const auto folder = captures / "h200-dense-graph";
  EXPECT_EQ(kernel_sums(read_capture(folder / "nsys_node_cuda_gpu_kern_sum.csv")),
            (Sums{44, 41227, 157504418}));
  EXPECT_EQ(call_sums(read_capture(folder / "nsys_node_nvtx_kern_sum.csv"),
                      trace::CallSummary::Kind::kernel_in_range),
            (Sums{415, 83547, 320712791}));
  EXPECT_EQ(call_sums(read_capture(folder / "nsys_node_nvtx_gpu_proj_sum.csv"),
                      trace::CallSummary::Kind::range_on_gpu),
            (Sums{13, 270, 1597186035}));
}

TEST(NsysCsvCaptures, DenseGraphTrace) {
  const auto captures = testing::h200_captures();
  const trace::Trace trace =
      read_capture(captures / "h200-dense-graph" / "nsys_node_cuda_gpu_trace.csv.gz");
  ASSERT_EQ(trace.kernels.size(), 41227U);
  Nanoseconds total = 0;
  uint64_t correlations = 0;
  uint64_t blocks = 0;
  uint64_t registers = 0;
  for (size_t i = 0; i < trace.kernels.size(); ++i) {
    total += trace.kernels.end[i] - trace.kernels.start[i];
    correlations += trace.kernels.correlation[i];
    const trace::LaunchShape& shape = trace.shapes[trace.kernels.shape[i]];
    blocks += uint64_t{shape.grid[0]} * shape.grid[1] * shape.grid[2];
    registers += shape.registers_per_thread;
  }
  EXPECT_EQ(total, 157504418);
  EXPECT_EQ(correlations, 2368449346U);
  EXPECT_EQ(blocks, 9727946U);
  EXPECT_EQ(registers, 1668094U);
  EXPECT_EQ(trace.kernels.start.front(), 5254313375);
  EXPECT_EQ(trace.queues.size(), 4U);
  ASSERT_EQ(trace.devices.size(), 1U);
  EXPECT_EQ(trace.devices[0].name, "NVIDIA H200");

  ASSERT_EQ(trace.memory_operations.size(), 154U);
  size_t copies = 0;
  Nanoseconds memory_total = 0;
  for (size_t i = 0; i < trace.memory_operations.size(); ++i) {
    copies += trace.memory_operations.kind[i] == trace::MemoryKind::copy ? 1U : 0U;
    memory_total += trace.memory_operations.end[i] - trace.memory_operations.start[i];
  }
  EXPECT_EQ(copies, 72U);
  EXPECT_EQ(memory_total, 133759);
  EXPECT_EQ(trace.memory_operations.bytes[0], 25000U);  // 25344, as 0.025 MB
  EXPECT_FALSE(trace.diagnostics.has("nsys_csv_bad_rows"));
}

TEST(SharedCapturesNsysCsv, OtherPeoplesReports) {
  LLMPROF_NEEDS_SHARED_CAPTURES(captures);
  const auto folder = captures / "public";
  EXPECT_EQ(kernel_sums(read_capture(
                folder / "CodeGandee+llm-perf-opt__decode_summary_cuda_gpu_kern_sum.csv")),
            (Sums{46, 78016, 179072697}));
  EXPECT_EQ(kernel_sums(read_capture(
                folder / "CodeGandee+llm-perf-opt__prefill_summary_cuda_gpu_kern_sum.csv")),
            (Sums{97, 6660, 65691733}));
  const trace::Trace ranges = read_capture(folder / "hpcgroup+pipit__nbody-nvtx_trace.csv");
  ASSERT_EQ(ranges.ranges.size(), 131U);
  Nanoseconds total = 0;
  for (size_t i = 0; i < ranges.ranges.size(); ++i) {
    total += ranges.ranges.end[i] - ranges.ranges.start[i];
    EXPECT_EQ(ranges.ranges.kind[i], trace::RangeKind::push_pop);
  }
  EXPECT_EQ(total, 1592922291);
  EXPECT_EQ(ranges.strings[ranges.ranges.text[0]], "main");
  EXPECT_EQ(ranges.processes[0].pid, 3086332U);
}

TEST(NsysCsvCaptures, TraceOfRanges) {
  const trace::Trace trace =
      read_capture(testing::test_data("h200-decoder/nsys_nvtx_pushpop_trace.csv.gz"));
  ASSERT_EQ(trace.ranges.size(), 236U);
  Nanoseconds total = 0;
  for (size_t i = 0; i < trace.ranges.size(); ++i) {
    total += trace.ranges.end[i] - trace.ranges.start[i];
    EXPECT_EQ(trace.ranges.kind[i], trace::RangeKind::push_pop);
  }
  EXPECT_EQ(total, 1930293698);
  EXPECT_EQ(trace.strings[trace.ranges.text[0]], "prefill");
  EXPECT_EQ(trace.processes[0].pid, 451U);
}

// How many files under `folder` it recognizes: those from nsys stats, and no others.
size_t recognized_below(const std::filesystem::path& folder) {
  size_t recognized = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (!entry.is_regular_file()) continue;
    const auto head = read_head(entry.path(), 64UL << 10U);
    if (!head) {
      ADD_FAILURE() << entry.path();
      continue;
    }
    const std::string name = entry.path().filename().string();
    const bool ours =
        name.find("_sum.csv") != std::string::npos || name.find("_trace.csv") != std::string::npos;
    EXPECT_EQ(kNsysCsvReader.recognizes(*head), ours) << name;
    recognized += ours ? 1U : 0U;
  }
  return recognized;
}

TEST(NsysCsvCaptures, EveryOtherFileIsLeftToItsOwnReader) {
  EXPECT_EQ(recognized_below(testing::h200_captures()), 9U);
}

TEST(SharedCapturesNsysCsv, EveryOtherFileIsLeftToItsOwnReader) {
  LLMPROF_NEEDS_SHARED_CAPTURES(captures);
  EXPECT_GE(recognized_below(captures), 12U);
}

}  // namespace
}  // namespace llmprof::readers
