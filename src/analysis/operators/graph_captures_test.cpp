#include "analysis/operators/graph_captures.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "analysis/analyze.h"
#include "analysis/operators/operators.h"
#include "testing/read_capture.h"
#include "testing/shared_captures.h"
#include "testing/temporary_folder.h"

namespace llmprof::analysis {
namespace {

// Events of a PyTorch trace. ROCm launches name their kernel; CUDA launches do not.
class Events {
 public:
  explicit Events(bool names) : names_(names) {}

  Events& call(std::string_view name, int start, int duration = 1, std::string_view kernel = "") {
    return add(fmt::format(
        R"("cat":"cuda_runtime","name":"{}","pid":1,"tid":1,"ts":{},"dur":{},)"
        R"("args":{{{}"correlation":{}}})",
        name, start, duration,
        names_ && !kernel.empty() ? fmt::format(R"("kernel":"{}",)", kernel) : std::string(),
        correlation_++));
  }
  Events& launch(std::string_view kernel, int start) {
    return call("cudaLaunchKernel", start, 1, kernel);
  }
  Events& operation(std::string_view name, int start, int duration) {
    return add(fmt::format(R"("cat":"cpu_op","name":"{}","pid":1,"tid":1,"ts":{},"dur":{})", name,
                           start, duration));
  }
  Events& module(std::string_view name, int start, int duration) {
    return add(fmt::format(R"("cat":"python_function","name":"nn.Module: {}","pid":1,"tid":1,)"
                           R"("ts":{},"dur":{})",
                           name, start, duration));
  }
  // Launched by the previous call.
  Events& kernel(std::string_view name, int start, int stream = 7) {
    return add(fmt::format(R"("cat":"kernel","name":"{}","pid":0,"tid":{},"ts":{},"dur":2,)"
                           R"("args":{{"device":0,"context":1,"stream":{},"correlation":{}}})",
                           name, stream, start, stream, correlation_ - 1));
  }
  Events& step(std::string_view label, int start, int duration) {
    return add(
        fmt::format(R"("cat":"user_annotation","name":"{}","pid":1,"tid":1,"ts":{},"dur":{})",
                    label, start, duration));
  }
  [[nodiscard]] std::string json() const { return "[" + text_ + "]"; }

 private:
  Events& add(const std::string& event) {
    text_ += (text_.empty() ? "" : ",\n") + (R"({"ph":"X",)" + event + "}");
    return *this;
  }
  bool names_;
  std::string text_;
  int correlation_ = 1;
};

// A captured graph of two layers, each a norm and a GEMM; before it, a fill that runs.
Events capture(bool names) {
  Events events(names);
  events.operation("aten::zero_", 5, 3).launch("fill", 6).kernel("fill", 8);
  events.call("cudaStreamBeginCapture", 10);
  for (int layer = 0; layer < 2; ++layer) {
    const int at = 20 + 20 * layer;
    events.module(fmt::format("MyDecoderLayer_{}", layer), at, 18);
    events.operation("aten::norm", at + 1, 4).launch("norm", at + 2);
    events.operation("aten::linear", at + 8, 8);
    events.operation("aten::mm", at + 9, 5).launch("gemm", at + 10);
  }
  events.call("cudaStreamEndCapture", 70);
  return events;
}

// Two steps: a separately launched copy of the input, then the replay.
Events execution(bool names, std::vector<std::string> kernels = {"norm", "gemm", "norm", "gemm"}) {
  Events events(names);
  for (int step = 0; step < 2; ++step) {
    const int at = 1000 + 100 * step;
    events.step("step[DECODE bs=4]", at, 90);
    events.operation("aten::copy_", at + 1, 4).launch("copy", at + 2).kernel("copy", at + 5);
    events.call("cudaGraphLaunch", at + 10, 5);
    int start = at + 20;
    for (const std::string& kernel : kernels) events.kernel(kernel, start += 10);
  }
  return events;
}

struct Joined {
  trace::Trace trace;
  Diagnostics diagnostics;
  Operators operators;

  [[nodiscard]] profile::Operator row(std::string_view name) const {
    const auto found = std::find_if(operators.rows.begin(), operators.rows.end(),
                                    [&](const profile::Operator& row) { return row.name == name; });
    return found == operators.rows.end() ? profile::Operator() : *found;
  }
  // The text of the range each kernel was captured in.
  [[nodiscard]] std::vector<std::string> ranges() const {
    std::vector<std::string> texts;
    for (const trace::RangeRow range : trace.kernels.node_range) {
      texts.emplace_back(range.valid() ? trace.strings[trace.ranges.text[range.index()]]
                                       : std::string_view());
    }
    return texts;
  }
};

Joined join(const std::vector<std::filesystem::path>& paths) {
  Joined joined;
  auto trace = testing::read_captures(paths);
  EXPECT_TRUE(trace) << trace.error().message;
  if (!trace) return joined;
  joined.trace = std::move(*trace);
  use_graph_captures(joined.trace, joined.diagnostics);
  joined.operators = find_operators(joined.trace);
  return joined;
}

Joined join(const Events& captured, const Events& executed) {
  const testing::TemporaryFolder folder;
  return join({folder.write("capture.json", captured.json()),
               folder.write("execution.json", executed.json())});
}

TEST(GraphCaptures, GiveReplayedKernelsTheirOperatorsAndLayers) {
  for (const bool names : {true, false}) {
    const Joined joined = join(capture(names), execution(names));
    EXPECT_EQ(joined.trace.kernels.size(), 10U);  // the fill during capture is not execution
    EXPECT_TRUE(joined.diagnostics.has("graph_captures_used"));
    EXPECT_TRUE(joined.diagnostics.has("graph_capture_not_executed"));
    const profile::Operator product = joined.row("aten::mm");
    EXPECT_EQ(product.calls, 4U);  // two layers, two replays
    EXPECT_EQ(product.kernel_count, 4U);
    EXPECT_EQ(to_nanoseconds(product.cuda_self), 8000);
    EXPECT_EQ(to_nanoseconds(product.cpu_total), 0);
    EXPECT_EQ(to_nanoseconds(joined.row("aten::linear").cuda_total), 8000);
    EXPECT_EQ(to_nanoseconds(joined.row("aten::linear").cuda_self), 0);
    EXPECT_EQ(to_nanoseconds(joined.row("aten::norm").cuda_self), 8000);
    EXPECT_EQ(joined.row("aten::copy_").calls, 2U);
    EXPECT_EQ(to_nanoseconds(joined.row("aten::copy_").cpu_total), 8000);
    EXPECT_EQ(joined.row("aten::zero_").calls, 0U);
    EXPECT_EQ(joined.operators.found.kernels_with_operator, 10U);
    EXPECT_EQ(joined.operators.found.kernels_without_operator, 0U);
    EXPECT_EQ(joined.operators.found.graph_kernels, 8U);
    EXPECT_EQ(joined.operators.found.captured_kernels, 8U);
    EXPECT_EQ(joined.ranges(), (std::vector<std::string>{"", "MyDecoderLayer_0", "MyDecoderLayer_0",
                                                         "MyDecoderLayer_1", "MyDecoderLayer_1", "",
                                                         "MyDecoderLayer_0", "MyDecoderLayer_0",
                                                         "MyDecoderLayer_1", "MyDecoderLayer_1"}));
  }
}

// Streams that ran concurrently: kernels match in order per name.
TEST(GraphCaptures, MatchByNameWhereTheOrderDiffers) {
  const Joined joined = join(capture(true), execution(true, {"norm", "norm", "gemm", "gemm"}));
  EXPECT_EQ(joined.row("aten::mm").kernel_count, 4U);
  EXPECT_EQ(joined.ranges()[2], "MyDecoderLayer_1");
  EXPECT_EQ(joined.ranges()[3], "MyDecoderLayer_0");
}

TEST(GraphCaptures, LeaveOtherGraphsAlone) {
  const Joined other = join(capture(true), execution(true, {"norm", "gemm", "norm", "gemv"}));
  EXPECT_TRUE(other.diagnostics.has("graph_replays_not_captured"));
  EXPECT_EQ(other.operators.found.captured_kernels, 0U);
  EXPECT_EQ(other.trace.kernels.size(), 11U);
  const Joined shorter = join(capture(false), execution(false, {"norm", "gemm", "norm"}));
  EXPECT_EQ(shorter.operators.found.captured_kernels, 0U);
}

// Two graphs of four kernels: without names, their number does not distinguish them.
TEST(GraphCaptures, DoNotGuessAGraphByItsNumberOfKernels) {
  Events executed = execution(false);
  executed.call("cudaGraphLaunch", 1300, 5);
  for (int i = 0; i < 4; ++i) executed.kernel("other", 1310 + 10 * i);
  EXPECT_EQ(join(capture(false), executed).operators.found.captured_kernels, 0U);
  EXPECT_EQ(join(capture(true), execution(true)).operators.found.captured_kernels, 8U);
}

// Two indistinguishable graphs: the operators are the same, the layer is unknown.
TEST(GraphCaptures, DoNotGuessALayer) {
  Events events(true);
  for (int layer = 0; layer < 2; ++layer) {
    const int at = 100 * layer;
    events.module(fmt::format("MyDecoderLayer_{}", layer), at, 90);
    events.call("cudaStreamBeginCapture", at + 1);
    events.operation("aten::mm", at + 10, 5).launch("gemm", at + 12);
    events.call("cudaStreamEndCapture", at + 20);
  }
  const Joined joined = join(events, execution(true, {"gemm"}));
  EXPECT_EQ(joined.row("aten::mm").kernel_count, 2U);
  EXPECT_EQ(joined.ranges(), (std::vector<std::string>(4, "")));
}

TEST(GraphCaptures, SayWhatACaptureAloneIsFor) {
  const testing::TemporaryFolder folder;
  const Joined alone = join({folder.write("capture.json", capture(true).json())});
  EXPECT_TRUE(alone.diagnostics.has("graph_capture_alone"));
  EXPECT_EQ(alone.trace.kernels.size(), 1U);
}

// A trace from the program's start: its operators keep their CPU time.
TEST(GraphCaptures, InTheTraceOfTheExecution) {
  const testing::TemporaryFolder folder;
  std::string both = capture(true).json();
  both.pop_back();
  // Correlations of the two parts must differ.
  std::string later = execution(true).json().substr(1);
  for (size_t at = 0; (at = later.find("\"correlation\":", at)) != std::string::npos;) {
    later.insert(at += 14, "9");
  }
  const Joined joined = join({folder.write("both.json", both + "," + later)});
  EXPECT_EQ(joined.trace.kernels.size(), 11U);
  EXPECT_EQ(to_nanoseconds(joined.row("aten::mm").cuda_self), 8000);
  EXPECT_EQ(joined.row("aten::mm").calls, 2U);
  EXPECT_EQ(to_nanoseconds(joined.row("aten::mm").cpu_total), 10000);
}

struct Pair {
  const char* capture;
  const char* execution;
  uint64_t replayed;
  uint64_t executed;
};

// Third-party pairs of traces: every replayed kernel has the name of the call that captured it.
TEST(SharedCapturesGraphs, GiveOperatorsToReplaysOfSglangAndVllm) {
  LLMPROF_NEEDS_SHARED_CAPTURES(captures);
  const std::string folder = (captures / "public/AMD-AGI+TraceLens__").string();
  for (const Pair& pair :
       {Pair{"sglang_Qwen3-8B_capture_bs_32_rank0", "sglang_Qwen3-8B_decode", 544, 555},
        Pair{"inference_vllm_decode_full_graph_capture_rank_0",
             "inference_vllm_decode_full_graph_execution", 421, 425}}) {
    const Joined joined =
        join({folder + pair.capture + ".json.gz", folder + pair.execution + ".json.gz"});
    EXPECT_EQ(joined.trace.kernels.size(), pair.executed);
    EXPECT_EQ(joined.operators.found.captured_kernels, pair.replayed);
    const trace::KernelTable& kernels = joined.trace.kernels;
    std::map<trace::LaunchRow, trace::StringId> names(joined.trace.launched_names.begin(),
                                                      joined.trace.launched_names.end());
    for (size_t i = 0; i < kernels.size(); ++i) {
      if (kernels.node_launch[i].valid()) {
        EXPECT_EQ(names.at(kernels.node_launch[i]), kernels.name[i]);
      }
    }
  }
}

}  // namespace
}  // namespace llmprof::analysis
