#include "session/run/kernel_selection.h"

#include <gtest/gtest.h>

#include "analysis/analyze.h"
#include "config/conf_files.h"
#include "testing/hand_made_trace.h"

namespace llmprof::session {
namespace {

using testing::HandMadeTrace;

analysis::AnalysisRules shipped_rules() {
  const auto conf = config::ConfFiles::open({});
  return {*analysis::KernelRules::load(*conf), *analysis::StageRules::load(*conf),
          *llm::GpuSpecs::load(*conf), *analysis::EngineRules::load(*conf)};
}

// A prefill and a decode of `steps` steps from `start`; `long` and `short` run in both.
void add_request(HandMadeTrace& trace, Nanoseconds start, int steps) {
  trace.range("prefill", start, start + 1000, trace::RangeKind::push_pop, {}, "LLM");
  trace.kernel("long", start + 10, start + 20, start + 520);
  trace.kernel("short", start + 30, start + 530, start + 630);
  const Nanoseconds decode = start + 1000;
  trace.range("decode_all", decode, decode + 1000 * steps, trace::RangeKind::push_pop, {}, "LLM");
  for (int step = 0; step < steps; ++step) {
    const Nanoseconds at = decode + 1000 * step;
    trace.range("decode_step", at, at + 1000, trace::RangeKind::push_pop, {}, "LLM");
    trace.kernel("long", at + 10, at + 20, at + 420);
    HandMadeTrace::Place wider;
    wider.grid = {2, 1, 1};
    trace.kernel("long", at + 30, at + 430, at + 830, wider);
    trace.kernel("short", at + 40, at + 840, at + 940);
  }
}

const capture::ChosenKernel* find(const std::vector<capture::ChosenKernel>& chosen,
                                  std::string_view name, std::string_view stage) {
  for (const capture::ChosenKernel& kernel : chosen) {
    if (kernel.name == name && kernel.stage == stage) return &kernel;
  }
  return nullptr;
}

TEST(SelectTopKernels, KnowTheirSymbolsWhereTheTimelineDoes) {
  HandMadeTrace made;
  add_request(made, 100, 3);
  trace::Trace trace = made.freeze();
  const trace::StringId name = trace.strings.intern("long");
  trace.symbols.emplace_back(name, trace.strings.intern("_Z4longv"));
  const auto analyzed = analysis::analyze(trace, shipped_rules(), {});
  ASSERT_TRUE(analyzed) << analyzed.error().message;
  const auto chosen = select_top_kernels(trace, analyzed->results, 2);
  ASSERT_NE(find(chosen, "long", "decode"), nullptr);
  EXPECT_EQ(find(chosen, "long", "decode")->symbol, "_Z4longv");
  ASSERT_NE(find(chosen, "short", "decode"), nullptr);
  EXPECT_EQ(find(chosen, "short", "decode")->symbol, "");

  trace.symbols.emplace_back(name, trace.strings.intern("_ZL4longv"));
  EXPECT_EQ(find(select_top_kernels(trace, analyzed->results, 2), "long", "decode")->symbol, "");
}

TEST(SelectTopKernels, TheLongestOncePerStageWithLaunchesAndShapes) {
  HandMadeTrace made;
  made.kernel("rare", 0, 1, 5);
  made.kernel("long", 6, 7, 8);
  add_request(made, 100, 3);
  trace::Trace trace = made.freeze();
  const auto analyzed = analysis::analyze(trace, shipped_rules(), {});
  ASSERT_TRUE(analyzed) << analyzed.error().message;

  const auto chosen = select_top_kernels(trace, analyzed->results, 2);
  ASSERT_EQ(chosen.size(), 4);
  const capture::ChosenKernel* prefill = find(chosen, "long", "prefill");
  ASSERT_NE(prefill, nullptr);
  EXPECT_EQ(prefill->nvtx_include, "LLM@prefill/");
  EXPECT_EQ(prefill->launches, 1);
  EXPECT_EQ(prefill->launches_before, 1);
  EXPECT_EQ(prefill->distinct_shapes, 1);
  const capture::ChosenKernel* decode = find(chosen, "long", "decode");
  ASSERT_NE(decode, nullptr);
  EXPECT_EQ(decode->nvtx_include, "LLM@decode_all/");
  EXPECT_EQ(decode->launches, 6);
  EXPECT_EQ(decode->launches_before, 2);  // one outside, one in the prefill
  EXPECT_EQ(decode->distinct_shapes, 2);
}

// Our own annotations reach NVTX too, so ncu can be gated by them.
TEST(SelectTopKernels, RangesOfOurOwnLogGateToo) {
  HandMadeTrace made;
  add_request(made, 100, 3);
  trace::Trace trace = made.freeze();
  trace.captures.front().tool = trace::kCollectorTool;
  const auto analyzed = analysis::analyze(trace, shipped_rules(), {});
  ASSERT_TRUE(analyzed) << analyzed.error().message;
  ASSERT_FALSE(analyzed->results.stages.stages.empty());
  for (const analysis::Stage& stage : analyzed->results.stages.stages) {
    EXPECT_EQ(stage.source, analysis::StageSource::annotation) << stage.name;
  }
  const auto chosen = select_top_kernels(trace, analyzed->results, 2);
  const capture::ChosenKernel* prefill = find(chosen, "long", "prefill");
  ASSERT_NE(prefill, nullptr);
  EXPECT_EQ(prefill->nvtx_include, "LLM@prefill/");
}

TEST(SelectTopKernels, WhatRunsOutsideOfStagesOnlyIsNotChosen) {
  HandMadeTrace made;
  made.kernel("weights", 0, 1, 90);
  made.range("prefill", 100, 200, trace::RangeKind::push_pop, {}, "LLM");
  made.kernel("gemm", 110, 120, 130);
  trace::Trace trace = made.freeze();
  const auto analyzed = analysis::analyze(trace, shipped_rules(), {});
  ASSERT_TRUE(analyzed);
  const auto chosen = select_top_kernels(trace, analyzed->results, 5);
  ASSERT_EQ(chosen.size(), 1U);
  EXPECT_EQ(chosen[0].name, "gemm");
}

TEST(SelectTopKernels, OutsideOfStagesAKernelHasNoRange) {
  HandMadeTrace made;
  made.kernel("alone", 0, 1, 1001);
  trace::Trace trace = made.freeze();
  const auto analyzed = analysis::analyze(trace, shipped_rules(), {});
  ASSERT_TRUE(analyzed);
  const auto chosen = select_top_kernels(trace, analyzed->results, 5);
  ASSERT_EQ(chosen.size(), 1);
  EXPECT_EQ(chosen[0].name, "alone");
  EXPECT_EQ(chosen[0].stage, "");
  EXPECT_EQ(chosen[0].nvtx_include, "");
  EXPECT_EQ(chosen[0].launches, 1);
}

}  // namespace
}  // namespace llmprof::session
