#include "analysis/operators/operators.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "analysis/operators/operator_calls.h"
#include "testing/read_capture.h"
#include "testing/reasons.h"
#include "testing/shared_captures.h"
#include "trace/builder.h"

namespace llmprof::analysis {
namespace {

using testing::Kinds;
using testing::kinds_of;

// A hand-made capture: one process, one GPU, as many threads as a test names.
class OperatorsTest : public ::testing::Test {
 protected:
  OperatorsTest() {
    builder_.begin_capture({});
    process_ = builder_.process(1, 1);
  }

  trace::ThreadId thread(uint64_t number) { return builder_.thread(process_, number, number); }

  void call(std::string_view name, Nanoseconds start, Nanoseconds end, uint64_t on = 1,
            uint64_t external_id = 0) {
    builder_.capture().format = "PyTorch trace";
    trace::OperatorTable& table = builder_.trace().operators;
    table.start.push_back(start);
    table.end.push_back(end);
    table.thread.push_back(thread(on));
    table.name.push_back(builder_.string(name));
    table.external_id.push_back(external_id);
  }

  void range(std::string_view text, Nanoseconds start, Nanoseconds end,
             std::string_view domain = "", trace::RangeKind kind = trace::RangeKind::push_pop) {
    trace::RangeTable& table = builder_.trace().ranges;
    table.start.push_back(start);
    table.end.push_back(end);
    table.thread.push_back(thread(1));
    table.domain.push_back(domain.empty() ? trace::StringId() : builder_.string(domain));
    table.text.push_back(builder_.string(text));
    table.kind.push_back(kind);
  }

  void launch(uint32_t correlation, Nanoseconds start, uint64_t on = 1) {
    trace::LaunchTable& table = builder_.trace().launches;
    table.start.push_back(start);
    table.end.push_back(start + 1);
    table.thread.push_back(thread(on));
    table.api.push_back(builder_.string("cudaLaunchKernel"));
    table.correlation.push_back(correlation);
  }

  // Kernels run long after everything on the CPU: only their launch connects them to it.
  void kernel(uint32_t correlation, Nanoseconds duration, uint64_t external_id = 0) {
    trace::KernelTable& table = builder_.trace().kernels;
    table.start.push_back(gpu_time_);
    table.end.push_back(gpu_time_ += duration);
    table.name.push_back(builder_.string("kernel"));
    table.shape.push_back(builder_.shape({}));
    table.queue.push_back(queue());
    table.correlation.push_back(correlation);
    table.external_id.push_back(external_id);
  }
  void launched_kernel(Nanoseconds at, Nanoseconds duration, uint64_t on = 1) {
    launch(++correlation_, at, on);
    kernel(correlation_, duration);
  }

  void launched_copy(Nanoseconds at, Nanoseconds duration) {
    launch(++correlation_, at);
    trace::MemoryOperationTable& table = builder_.trace().memory_operations;
    table.start.push_back(gpu_time_);
    table.end.push_back(gpu_time_ += duration);
    table.bytes.push_back(1);
    table.detail.emplace_back();
    table.queue.push_back(queue());
    table.correlation.push_back(correlation_);
    table.kind.push_back(trace::MemoryKind::copy);
  }

  Operators operators() {
    trace_ = std::move(builder_).freeze();
    return find_operators(trace_);
  }

  trace::TraceBuilder builder_;

 private:
  trace::QueueId queue() { return builder_.queue({process_, builder_.device(0), 0, 7}); }

  trace::ProcessId process_;
  trace::Trace trace_;
  uint32_t correlation_ = 0;
  Nanoseconds gpu_time_ = 1'000'000;
};

// In nanoseconds.
struct OperatorRow {
  std::string name;
  uint64_t calls = 0;
  Nanoseconds cpu_total = 0;
  Nanoseconds cpu_self = 0;
  Nanoseconds cuda_total = 0;
  Nanoseconds cuda_self = 0;
  uint64_t kernel_count = 0;
};

OperatorRow exact(const profile::Operator& row) {
  return {row.name,
          row.calls,
          to_nanoseconds(row.cpu_total),
          to_nanoseconds(row.cpu_self),
          to_nanoseconds(row.cuda_total),
          to_nanoseconds(row.cuda_self),
          row.kernel_count};
}

OperatorRow row_named(const Operators& operators, std::string_view name) {
  const auto found = std::find_if(operators.rows.begin(), operators.rows.end(),
                                  [&](const profile::Operator& each) { return each.name == name; });
  EXPECT_NE(found, operators.rows.end()) << name;
  return found == operators.rows.end() ? OperatorRow() : exact(*found);
}

void expect_row_named(const Operators& operators, std::string_view name,
                      const OperatorRow& expected) {
  const OperatorRow found = row_named(operators, name);
  EXPECT_EQ(found.calls, expected.calls) << name;
  EXPECT_EQ(found.cpu_total, expected.cpu_total) << name;
  EXPECT_EQ(found.cpu_self, expected.cpu_self) << name;
  EXPECT_EQ(found.cuda_total, expected.cuda_total) << name;
  EXPECT_EQ(found.cuda_self, expected.cuda_self) << name;
  EXPECT_EQ(found.kernel_count, expected.kernel_count) << name;
}

// linear [0, 100) contains t [5, 15) and mm [20, 90); mm launches 40 ns, linear itself 3 ns.
TEST_F(OperatorsTest, GivesTimeToTheInnermostAndTotalsToAllAround) {
  call("mm", 20, 90);  // rows need not be in order
  call("linear", 0, 100);
  call("t", 5, 15);
  launched_kernel(30, 40);
  launched_kernel(95, 3);
  const Operators found = operators();
  EXPECT_EQ(found.found.source, "PyTorch trace");
  EXPECT_TRUE(found.found.why_not_reasons.empty());
  expect_row_named(found, "linear", {"", 1, 100, 20, 43, 3, 2});
  expect_row_named(found, "mm", {"", 1, 70, 70, 40, 40, 1});
  expect_row_named(found, "t", {"", 1, 10, 10, 0, 0, 0});
  ASSERT_EQ(found.rows.size(), 3U);
  EXPECT_EQ(found.rows[0].name, "mm");
  EXPECT_EQ(found.rows[1].name, "linear");
  EXPECT_EQ(found.found.kernels_with_operator, 2U);
  EXPECT_EQ(found.found.kernels_without_operator, 0U);
}

// to [0, 100) > copy [10, 90) > to [20, 60), which launches 7 ns. Only the outer `to` adds to
// totals.
TEST_F(OperatorsTest, CountsRecursionOnceInTotals) {
  call("to", 0, 100);
  call("copy", 10, 90);
  call("to", 20, 60);
  launched_kernel(30, 7);
  const Operators found = operators();
  expect_row_named(found, "to", {"", 2, 100, 20 + 40, 7, 7, 1});
  expect_row_named(found, "copy", {"", 1, 80, 40, 7, 0, 1});
}

TEST_F(OperatorsTest, KeepsThreadsApart) {
  call("forward", 0, 100, 1);
  call("backward", 10, 50, 2);  // at the same time, but not inside
  launched_kernel(20, 5, 1);
  launched_kernel(20, 9, 2);
  launched_kernel(20, 11, 3);  // a thread without operators
  const Operators found = operators();
  expect_row_named(found, "forward", {"", 1, 100, 100, 5, 5, 1});
  expect_row_named(found, "backward", {"", 1, 40, 40, 9, 9, 1});
  EXPECT_EQ(found.found.kernels_with_operator, 2U);
  EXPECT_EQ(found.found.kernels_without_operator, 1U);
}

// With whole microseconds, calls can have no duration or equal times; then the id shows which
// started first. A launch at an operator's end is outside.
TEST_F(OperatorsTest, StandsCoarseClocks) {
  call("empty", 10, 10, 1, 2);
  call("inner", 10, 30, 1, 4);
  call("outer", 10, 30, 1, 3);
  launched_kernel(10, 5);
  launched_kernel(30, 6);
  const Operators found = operators();
  expect_row_named(found, "empty", {"", 1, 0, 0, 0, 0, 0});
  expect_row_named(found, "inner", {"", 1, 20, 20, 5, 5, 1});
  expect_row_named(found, "outer", {"", 1, 20, 0, 5, 0, 1});
  EXPECT_EQ(found.found.kernels_without_operator, 1U);
}

// A call that ends after the one around it: the excess is not subtracted from the outer's self
// time.
TEST_F(OperatorsTest, StandsCallsThatStickOut) {
  call("outer", 0, 10);
  call("inner", 5, 15);
  const Operators found = operators();
  expect_row_named(found, "outer", {"", 1, 10, 5, 0, 0, 0});
  expect_row_named(found, "inner", {"", 1, 10, 10, 0, 0, 0});
}

TEST_F(OperatorsTest, CountsCopiesAsGpuTimeButNotAsKernels) {
  call("aten::copy_", 0, 100);
  launched_copy(10, 33);
  const Operators found = operators();
  expect_row_named(found, "aten::copy_", {"", 1, 100, 100, 33, 33, 0});
  EXPECT_EQ(found.found.kernels_with_operator, 0U);
}

TEST_F(OperatorsTest, ResolvesKernelsWithoutLaunchByTheirOwnId) {
  call("linear", 0, 100, 1, 7);
  call("mm", 20, 90, 1, 8);
  kernel(0, 40, 8);
  kernel(0, 5, 99);  // its operator was not recorded
  kernel(0, 6, 0);
  const Operators found = operators();
  expect_row_named(found, "linear", {"", 1, 100, 30, 40, 0, 1});
  expect_row_named(found, "mm", {"", 1, 70, 70, 40, 40, 1});
  EXPECT_EQ(found.found.kernels_with_operator, 1U);
  EXPECT_EQ(found.found.kernels_without_operator, 2U);
}

// One graph launch has all of its kernels.
TEST_F(OperatorsTest, GivesAGraphsKernelsToTheOperatorThatLaunchedIt) {
  call("graph", 0, 100);
  launch(1, 50);
  kernel(1, 10);
  kernel(1, 20);
  const Operators found = operators();
  expect_row_named(found, "graph", {"", 1, 100, 100, 30, 30, 2});
}

TEST_F(OperatorsTest, ReadsNvtxOperatorRanges) {
  range("decode_step", 0, 1000);  // not an operator
  range("aten::linear, op_id = 4", 100, 200);
  range("aten::mm, seq = 12, op_id = 5, sizes = [[4, 4], [4, 4]]", 110, 190);
  range("aten::mm, seq = 13, op_id = 9", 300, 310);
  range("aten::mm", 320, 330, "other library");
  range("aten::mm, seq = 14", 340, trace::kOpenEnd);
  range("aten::mm, seq = 15", 350, 360, "", trace::RangeKind::start_end);
  launched_kernel(120, 40);
  launched_kernel(500, 1);
  const Operators found = operators();
  EXPECT_EQ(found.found.source, "NVTX operator ranges (emit_nvtx)");
  ASSERT_EQ(found.rows.size(), 2U);
  expect_row_named(found, "aten::linear", {"", 1, 100, 20, 40, 0, 1});
  expect_row_named(found, "aten::mm", {"", 2, 90, 90, 40, 40, 1});
  EXPECT_EQ(found.found.kernels_without_operator, 1U);
}

TEST_F(OperatorsTest, PrefersTheFrameworksOwnRecord) {
  call("aten::mm", 0, 10);
  range("aten::add", 20, 30);
  const Operators found = operators();
  ASSERT_EQ(found.rows.size(), 1U);
  EXPECT_EQ(found.found.source, "PyTorch trace");
}

TEST_F(OperatorsTest, SaysWhatWouldGiveOperators) {
  range("prefill", 0, 10);
  launched_kernel(1, 1);
  const Operators found = operators();
  EXPECT_TRUE(found.rows.empty());
  EXPECT_FALSE(found.found.source);
  EXPECT_EQ(kinds_of(found.found.why_not_reasons), Kinds{"no_framework_operators"});
}

TEST_F(OperatorsTest, SaysWhatAPyTorchTraceLacks) {
  builder_.capture().format = "PyTorch trace";
  launched_kernel(1, 1);
  const Operators found = operators();
  EXPECT_EQ(kinds_of(found.found.why_not_reasons), Kinds{"trace_without_operators"});
}

TEST(NvtxOperatorName, IsWhatStandsBeforeTheFacts) {
  EXPECT_EQ(nvtx_operator_name("aten::mm"), "aten::mm");
  EXPECT_EQ(nvtx_operator_name("aten::mm, seq = 12"), "aten::mm");
  EXPECT_EQ(nvtx_operator_name("aten::mm, op_id = 3, sizes = [[1, 2], []]"), "aten::mm");
  EXPECT_EQ(nvtx_operator_name("MmBackward0, seq = 12, op_id = 3"), "MmBackward0");
  EXPECT_EQ(nvtx_operator_name("a, b, sizes = [[]], input_op_ids = [(1,0)]"), "a, b");
  EXPECT_EQ(nvtx_operator_name("autograd::engine::evaluate_function: AddBackward0, op_id = 8"),
            "autograd::engine::evaluate_function: AddBackward0");
  EXPECT_EQ(nvtx_operator_name("torch::autograd::AccumulateGrad"),
            "torch::autograd::AccumulateGrad");
  EXPECT_EQ(nvtx_operator_name("prefill"), "");
  EXPECT_EQ(nvtx_operator_name("layer_00, seq"), "");
  EXPECT_EQ(nvtx_operator_name("aten::"), "");
  EXPECT_EQ(nvtx_operator_name(""), "");
}

struct Sums {
  uint64_t calls = 0;
  Nanoseconds cpu_total = 0;
  Nanoseconds cpu_self = 0;
  Nanoseconds cuda_total = 0;
  Nanoseconds cuda_self = 0;
  uint64_t kernel_count = 0;

  friend bool operator==(const Sums&, const Sums&) = default;
};
Sums sums_of(const Operators& operators) {
  Sums sums;
  for (const profile::Operator& row : operators.rows) {
    const OperatorRow each = exact(row);
    sums.calls += each.calls;
    sums.cpu_total += each.cpu_total;
    sums.cpu_self += each.cpu_self;
    sums.cuda_total += each.cuda_total;
    sums.cuda_self += each.cuda_self;
    sums.kernel_count += each.kernel_count;
  }
  return sums;
}

// Expected values are from a plain Python program that uses json.load, finds the open operators of
// each launch by comparing intervals, and calculates in decimal.
TEST(OperatorsOfCaptures, AgreeWithPlainPython) {
  const auto captures = testing::h200_captures();
  const Operators found = find_operators(
      testing::read_capture(captures / "h200-dense-graph" / "kineto_graph.json.gz").value());
  EXPECT_EQ(found.rows.size(), 47U);
  EXPECT_EQ(sums_of(found), (Sums{3050, 68671356, 37454022, 25680298, 10979112, 1570}));
  EXPECT_EQ(found.found.kernels_with_operator, 972U);
  EXPECT_EQ(found.found.kernels_without_operator,
            25740U - 972U);  // the graph's kernels, launched by no operator
  EXPECT_EQ(found.rows[0].name, "aten::mm");
  expect_row_named(found, "aten::mm", {"", 66, 3529549, 3529549, 5925712, 5925712, 66});
  expect_row_named(found, "aten::linear", {"", 66, 5333862, 286901, 5925712, 0, 66});
  expect_row_named(found, "aten::copy_", {"", 262, 5448442, 5448442, 1030786, 1030786, 214});
}

TEST(OperatorsOfCaptures, AgreeWithPlainPythonWhereAllKernelsHaveAnOperator) {
  const Operators found = find_operators(
      testing::read_capture(testing::test_data("h200-decoder/kineto.json.gz")).value());
  EXPECT_EQ(found.rows.size(), 51U);
  EXPECT_EQ(sums_of(found), (Sums{7605, 109546760, 58265202, 9842643, 4796339, 3621}));
  EXPECT_EQ(found.found.kernels_with_operator, 2212U);
  EXPECT_EQ(found.found.kernels_without_operator, 0U);
  expect_row_named(found, "aten::mm", {"", 153, 5784208, 5784208, 1617822, 1617822, 185});
  expect_row_named(found, "aten::linear", {"", 153, 8514875, 490384, 1617822, 0, 185});
  expect_row_named(found, "aten::scaled_dot_product_attention",
                   {"", 36, 6637374, 702064, 387932, 0, 132});
}

TEST(SharedCapturesOperators, AgreeWithPlainPythonOnOtherPeoplesTraces) {
  LLMPROF_NEEDS_SHARED_CAPTURES(captures);
  const auto found_in = [&](std::string_view name) {
    return find_operators(testing::read_capture(captures / "public" / name).value());
  };
  const Operators qwen =
      found_in("AMD-AGI+TraceLens__h100_Qwen_Qwen1.5-0.5B-Chat__1016005.json.gz");
  EXPECT_EQ(sums_of(qwen), (Sums{4186, 45620705, 22040534, 63281214, 31905473, 1737}));
  EXPECT_EQ(qwen.found.kernels_with_operator, 1029U);
  EXPECT_EQ(qwen.found.kernels_without_operator, 436U);
  expect_row_named(qwen, "aten::linear", {"", 168, 9746082, 755251, 8997754, 0, 168});

  const Operators fractions =
      found_in("facebookresearch+HolisticTraceAnalysis__ns_resolution_rank-0.pt.trace.json.gz");
  EXPECT_EQ(sums_of(fractions), (Sums{23910, 926818753, 357782594, 1435365217, 472454441, 12505}));
  expect_row_named(fractions, "aten::copy_", {"", 1600, 57376377, 57376377, 3715404, 3715404, 0});

  // From 2021, in whole microseconds.
  const Operators old = found_in("pytorch+kineto__resnet50_worker0.1623143089861.pt.trace.json.gz");
  EXPECT_EQ(sums_of(old), (Sums{23646, 3134280000, 1222741000, 1973961000, 603558000, 26892}));
  expect_row_named(old, "aten::to", {"", 414, 64332000, 14834000, 11492000, 0, 0});
}

}  // namespace
}  // namespace llmprof::analysis
