#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/detection/detected_stages.h"
#include "testing/hand_made_trace.h"

namespace llmprof::analysis::detection_test {

inline constexpr std::string_view kDetectionRules = R"(
traits:
  block_per_row: [vectorized_gather_kernel]
  token_choice: [argmax, sampl]
  backward: [ackward]
rules:
  - prefix: [attention]
    class: attention
  - prefix: [gemm]
    class: gemm
  - prefix: [softmax]
    class: softmax
  - prefix: [norm]
    class: norm
  - prefix: [add, fill, backward]
    class: elementwise
  - prefix: [vectorized_gather_kernel, index_select]
    class: embedding/gather
  - prefix: [argmax, topk]
    class: sampling/top-k
)";

inline constexpr Nanoseconds kMicrosecond = 1000;
inline constexpr Nanoseconds kMillisecond = 1000 * kMicrosecond;

// One forward pass as a program runs it.
struct ProgramPass {
  StepKind kind = StepKind::decode;
  uint32_t tokens = 1;
  uint32_t sequences = 1;
  uint32_t layers = 6;
  bool packed = false;  // by a serving engine, which gathers rows before the last GEMM
};

// A program that runs passes one after another, and remembers the kernels of each.
class Program {
 public:
  struct Truth {
    size_t begin;  // rows of the kernel table
    size_t end;
    ProgramPass pass;
  };
  using Layer = std::function<void(Program&, const ProgramPass&, uint32_t layer)>;

  // The GEMM over the vocabulary takes longer than those of the layers.
  static constexpr Nanoseconds kHead = 7 * kMicrosecond;

  void kernel(std::string_view name, uint32_t blocks = 1, Nanoseconds time = 3 * kMicrosecond) {
    if (!traced_) {
      now_ += 10 * kMicrosecond;
      return;
    }
    testing::HandMadeTrace::Place place;
    place.grid = {blocks, 1, 1};
    place.device = device_;
    if (thread_ != 0) place.thread = trace_.thread(thread_);
    place.correlation = graph_;
    trace_.kernel(name, now_, now_ + 2 * kMicrosecond, now_ + 2 * kMicrosecond + time, place);
    now_ += 10 * kMicrosecond;
    ++rows_;
  }
  // Kernels until the next call are nodes of this graph launch; 0: not in a graph.
  void in_graph(uint32_t launch) { graph_ = launch == 0 ? 0 : kGraphs + launch; }
  void wait(Nanoseconds time) { now_ += time; }
  // Kernels between two tracing windows are not recorded.
  void begin_window() {
    trace_.tracing_changes(
        now_, true,
        rows_ == 0 ? trace::TracingReason::program_start : trace::TracingReason::budget);
    traced_ = true;
  }
  void end_window() {
    trace_.tracing_changes(now_, false, trace::TracingReason::budget);
    traced_ = false;
  }
  [[nodiscard]] Nanoseconds now() const { return now_; }
  void range(std::string_view text, Nanoseconds start, Nanoseconds end) {
    trace_.range(text, start, end);
  }
  void on_device(uint32_t device) { device_ = device; }
  void on_thread(uint64_t thread) { thread_ = thread; }
  void replay() {
    trace_.replay(now_, now_ + 2 * kMicrosecond, now_ + 500 * kMicrosecond);
    now_ += 510 * kMicrosecond;
  }
  void read_back(uint64_t bytes = 8) {
    trace_.copy(now_, now_ + 2 * kMicrosecond, now_ + 3 * kMicrosecond);
    trace::Trace& trace = trace_.builder().trace();
    trace.memory_operations.bytes.back() = bytes;
    trace.memory_operations.detail.back() = trace_.builder().string("Device-to-Host");
    now_ += 10 * kMicrosecond;
  }

  static void dense_layer(Program& program, const ProgramPass& pass, uint32_t /*layer*/) {
    program.kernel("add_norm", pass.tokens * 4);
    program.kernel("gemm_qkv");
    program.kernel("add_rope", pass.tokens * 4);
    program.attention(pass);
    program.kernel("gemm_out");
    program.kernel("add_residual", pass.tokens * 4);
    program.kernel("gemm_up");
    program.kernel("add_gate", pass.tokens * 11);
    program.kernel("gemm_down");
  }

  void attention(const ProgramPass& pass) {
    if (pass.kind == StepKind::prefill && !pass.packed) {
      kernel("attention_prefill", pass.tokens);
    } else {
      kernel("attention_split", pass.sequences);
      kernel("attention_join", pass.sequences);
    }
  }

  void pass(const ProgramPass& pass, const Layer& layer = dense_layer) {
    const size_t begin = rows_;
    if (pass.kind != StepKind::prefill || pass.packed) kernel("fill_position");
    if (pass.tokens > 1 || pass.packed) {
      kernel("vectorized_gather_kernel", pass.tokens);
    } else {
      kernel("index_select", 16);
    }
    for (uint32_t i = 0; i < pass.layers; ++i) layer(*this, pass, i);
    kernel("add_norm", pass.sequences * 4);
    if (pass.packed) kernel("vectorized_gather_kernel", pass.sequences);
    kernel("gemm_head", 1, kHead);
    kernel("argmax", pass.sequences);
    truth_.push_back({begin, rows_, pass});
  }
  // A pass of an engine that chooses tokens on the host.
  void pass_on_host(const ProgramPass& pass, const Layer& layer) {
    const size_t begin = rows_;
    kernel("index_select", pass.tokens);
    for (uint32_t i = 0; i < pass.layers; ++i) layer(*this, pass, i);
    kernel("norm", pass.sequences);
    kernel("gemm_head");
    truth_.push_back({begin, rows_, pass});
  }
  void request(uint32_t prompt, uint32_t steps, const Layer& layer = dense_layer) {
    pass({.kind = StepKind::prefill, .tokens = prompt}, layer);
    for (uint32_t i = 0; i < steps; ++i) pass({}, layer);
  }

  enum class Ranges : uint8_t { ignored, used };
  const Stages& detect(Ranges ranges = Ranges::ignored) {
    const config::ConfText text{"rules", std::string(kDetectionRules)};
    const auto rules = KernelRules::parse(std::span(&text, 1));
    EXPECT_TRUE(rules) << rules.error().message;
    frozen_ = trace_.freeze();
    const DescribedNames names(frozen_, *rules);
    const auto conf = config::ConfFiles::open(std::nullopt);
    const auto stage_rules = StageRules::load(*conf);
    EXPECT_TRUE(stage_rules);
    const MeaningfulRanges meaningful(frozen_, *stage_rules);
    stages_ = detected_stages(frozen_, names, diagnostics_,
                              ranges == Ranges::used ? &meaningful : nullptr);
    return stages_;
  }

  // Every pass is a step with exactly its kernels; all other kernels belong to no step.
  void expect_all_found() const {
    ASSERT_EQ(stages_.steps.size(), truth_.size()) << stages_.reason;
    size_t row = 0;
    for (size_t i = 0; i < truth_.size(); ++i) {
      for (; row < truth_[i].begin; ++row) {
        EXPECT_FALSE(stages_.owners.kernel_step[row].valid()) << row;
      }
      for (; row < truth_[i].end; ++row) ASSERT_EQ(stages_.owners.kernel_step[row], StepId(i));
      EXPECT_EQ(stages_.steps[i].kind, truth_[i].pass.kind) << i;
    }
  }

  [[nodiscard]] const std::vector<Truth>& truth() const { return truth_; }
  [[nodiscard]] bool said(std::string_view code) const {
    return std::any_of(diagnostics_.items().begin(), diagnostics_.items().end(),
                       [&](const Diagnostic& each) { return each.code == code; });
  }
  [[nodiscard]] size_t rows() const { return rows_; }

 private:
  static constexpr uint32_t kGraphs = 1'000'000'000;  // beyond all other correlation ids
  testing::HandMadeTrace trace_;
  uint32_t graph_ = 0;
  Nanoseconds now_ = kMillisecond;
  uint32_t device_ = 0;
  uint64_t thread_ = 0;  // 0: the first
  bool traced_ = true;
  size_t rows_ = 0;
  std::vector<Truth> truth_;
  trace::Trace frozen_;
  Stages stages_;
  Diagnostics diagnostics_;
};

}  // namespace llmprof::analysis::detection_test
