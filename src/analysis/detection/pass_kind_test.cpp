#include "analysis/detection/pass_kind.h"

#include <gtest/gtest.h>

#include <string>

#include "testing/hand_made_trace.h"

namespace llmprof::analysis {
namespace {

// Passes of 60 kernels with unknown classes and tokens: two equal ones, one with the same kernels
// but without its end, and one with other kernels.
class PassKindTest : public ::testing::Test {
 protected:
  PassKindTest() {
    pass("step", 60);
    pass("step", 60);
    pass("step", 50);
    pass("prompt", 60);
  }

  void pass(const std::string& name, uint32_t kernels) {
    ForwardPass made;
    made.begin = made.first_beat = rows_;
    for (uint32_t i = 0; i < kernels; ++i, ++rows_) {
      trace_.kernel(name + std::to_string(i % 10), 10 * rows_, 10 * rows_, 10 * rows_ + 5);
    }
    made.end = rows_;
    made.last_beat = rows_ - 1;
    made.layers = 6;
    made.size.names = std::hash<std::string>()(name) + kernels;
    passes_.push_back(made);
  }

  std::vector<StepKind> kinds() {
    const trace::Trace trace = trace_.freeze();
    const config::ConfText text{"rules", "rules:\n  - {prefix: [none], class: gemm}\n"};
    const auto rules = KernelRules::parse(std::span(&text, 1));
    const DescribedNames names(trace, rules.value());
    const std::vector<KernelSequence> sequences = kernel_sequences(trace, names);
    std::vector<StepKind> found;
    classify_passes(sequences.at(0), passes_);
    for (const ForwardPass& pass : passes_) found.push_back(pass.kind);
    return found;
  }

  testing::HandMadeTrace trace_;
  uint32_t rows_ = 0;
  std::vector<ForwardPass> passes_;
};

TEST_F(PassKindTest, APassThatDoesNotRepeatIsAPrefill) {
  EXPECT_EQ(kinds(), (std::vector{StepKind::decode, StepKind::decode, StepKind::prefill,
                                  StepKind::prefill}));
}

TEST_F(PassKindTest, APassThatAWindowCutsIsAsThoseOfItsKernels) {
  trace_.tracing_changes(0, true, trace::TracingReason::program_start);
  trace_.tracing_changes(1700, false, trace::TracingReason::budget);
  trace_.tracing_changes(1701, true, trace::TracingReason::budget);
  trace_.tracing_changes(9000, false, trace::TracingReason::process_end);
  EXPECT_EQ(kinds(),
            (std::vector{StepKind::decode, StepKind::decode, StepKind::decode, StepKind::prefill}));
}

// Each pass is cut at a different place, so no two are equal.
class CutPassKindTest : public PassKindTest {
 protected:
  CutPassKindTest() {
    passes_.clear();
    for (const uint32_t kernels : {58U, 51U, 60U, 43U}) pass("step", kernels);
    pass("prompt", 60);
    trace_.tracing_changes(0, true, trace::TracingReason::program_start);
  }
};

TEST_F(CutPassKindTest, MostPassesAreOfTheKernelsThatRepeat) {
  trace_.tracing_changes(4000, false, trace::TracingReason::budget);
  trace_.tracing_changes(4001, true, trace::TracingReason::budget);
  trace_.tracing_changes(9000, false, trace::TracingReason::process_end);
  EXPECT_EQ(kinds(), (std::vector{StepKind::decode, StepKind::decode, StepKind::decode,
                                  StepKind::decode, StepKind::prefill}));
}

TEST_F(CutPassKindTest, WithoutWindowsPassesThatDifferTakePrompts) {
  trace_.tracing_changes(9000, false, trace::TracingReason::process_end);
  EXPECT_EQ(kinds(), std::vector(5, StepKind::prefill));
}

// The end of recording after the program's end does not cut a pass.
TEST_F(PassKindTest, TheEndOfRecordingIsNoWindow) {
  trace_.tracing_changes(0, true, trace::TracingReason::program_start);
  trace_.tracing_changes(9000, false, trace::TracingReason::process_end);
  EXPECT_EQ(kinds(), (std::vector{StepKind::decode, StepKind::decode, StepKind::prefill,
                                  StepKind::prefill}));
}

}  // namespace
}  // namespace llmprof::analysis
