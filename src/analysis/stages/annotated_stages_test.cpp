#include "analysis/stages/annotated_stages.h"

#include <gtest/gtest.h>

#include "analysis/stages/kernel_scopes.h"
#include "analysis/stages/measure_stages.h"
#include "testing/hand_made_trace.h"

namespace llmprof::analysis {
namespace {

using testing::HandMadeTrace;

class AnnotatedStagesTest : public ::testing::Test {
 protected:
  void SetUp() override {
    auto conf = config::ConfFiles::open(std::nullopt);
    ASSERT_TRUE(conf);
    auto rules = StageRules::load(*conf);
    ASSERT_TRUE(rules) << rules.error().message;
    rules_ = *rules;
  }

  std::optional<Stages> find() {
    frozen_ = trace_.freeze();
    return annotated_stages(frozen_, MeaningfulRanges(frozen_, rules_), diagnostics_);
  }

  const StageInstance& instance_of_kernel(const Stages& stages, size_t kernel) const {
    return stages.instances[stages.owners.kernel_instance[kernel].index()];
  }
  std::string stage_of_kernel(const Stages& stages, size_t kernel) const {
    const InstanceId instance = stages.owners.kernel_instance[kernel];
    if (!instance.valid()) return "none";
    return stages.stages[stages.instances[instance.index()].stage].name;
  }

  HandMadeTrace trace_;
  StageRules rules_;
  trace::Trace frozen_;
  Diagnostics diagnostics_;
};

TEST_F(AnnotatedStagesTest, KeepsToWhatTheProgramCallsWarmUp) {
  trace_.range("warm_up", 0, 100);
  trace_.range("prefill", 10, 50);
  trace_.kernel("a", 20, 21, 22);
  trace_.range("vocode", 60, 90);
  // Slower than the warm-up, so comparing times would flag this one.
  trace_.range("prefill", 110, 300);
  trace_.kernel("a", 120, 121, 290);
  trace_.range("prefill", 310, 350);
  trace_.kernel("a", 320, 321, 322);
  trace_.range("prefill", 360, 400);
  trace_.kernel("a", 370, 371, 372);
  const auto stages = find();
  ASSERT_TRUE(stages);
  ASSERT_EQ(stages->instances.size(), 4U);
  EXPECT_TRUE(stages->instances[0].warmup);
  for (size_t i = 1; i < 4; ++i) EXPECT_FALSE(stages->instances[i].warmup) << i;
  EXPECT_EQ(stages->stages[0].wall.count, 3U);
  EXPECT_TRUE(diagnostics_.has("warmup_set_apart"));
}

TEST_F(AnnotatedStagesTest, AStageThatOnlyWarmsUpIsKept) {
  trace_.range("warm-up 1", 0, 100);
  trace_.range("prefill", 10, 50);
  trace_.kernel("a", 20, 21, 22);
  const auto stages = find();
  ASSERT_TRUE(stages);
  ASSERT_EQ(stages->instances.size(), 1U);
  EXPECT_FALSE(stages->instances[0].warmup);
}

TEST_F(AnnotatedStagesTest, PutsAKernelInTheInnermostRangeOpenAtItsLaunch) {
  trace_.range("prefill", 0, 100);
  trace_.range("decode_all", 20, 60);  // inside the prefill
  trace_.kernel("before", -5, 0, 5);
  trace_.kernel("a", 0, 6, 10);      // a range includes its start
  trace_.kernel("b", 30, 110, 120);  // runs after all ranges, was launched in the inner one
  trace_.kernel("c", 60, 121, 130);  // but not its end
  trace_.kernel("d", 100, 131, 140);
  const auto stages = find();
  ASSERT_TRUE(stages);
  EXPECT_EQ(stage_of_kernel(*stages, 0), "none");
  EXPECT_EQ(stage_of_kernel(*stages, 1), "prefill");
  EXPECT_EQ(stage_of_kernel(*stages, 2), "decode");
  EXPECT_EQ(stage_of_kernel(*stages, 3), "prefill");
  EXPECT_EQ(stage_of_kernel(*stages, 4), "none");
  const auto covered = coverage(frozen_, *stages, std::nullopt);
  ASSERT_TRUE(covered);
  EXPECT_EQ(covered->kernels, 5U);
  EXPECT_EQ(covered->kernels_in_stages, 3U);
  EXPECT_EQ(to_nanoseconds(covered->kernel_sum), 5 + 4 + 10 + 9 + 9);
  EXPECT_EQ(to_nanoseconds(covered->kernel_sum_in_stages), 4 + 10 + 9);
}

TEST_F(AnnotatedStagesTest, CountsASameNamedRangeInsideOnce) {
  trace_.range("prefill", 0, 100, trace::RangeKind::push_pop, {}, "LLM");
  trace_.range("prefill", 10, 90);
  trace_.kernel("a", 5, 6, 10);
  trace_.kernel("b", 20, 21, 30);
  const auto stages = find();
  ASSERT_TRUE(stages);
  ASSERT_EQ(stages->instances.size(), 1U);
  EXPECT_EQ(stages->instances[0].work.kernel_count, 2U);
  EXPECT_EQ(stages->stages[0].label, "LLM@prefill");
}

TEST_F(AnnotatedStagesTest, OpensStartEndRangesOnAllThreadsOfTheirProcess) {
  const trace::ThreadId other = trace_.thread(2);
  const trace::ThreadId foreign = trace_.thread(trace_.process(9), 3);
  trace_.range("decode_all", 0, 100, trace::RangeKind::start_end);
  trace_.range("decode_step", 10, 40, trace::RangeKind::push_pop, other);
  trace_.kernel("a", 20, 20, 30, {other, 0, 7, 0, {1, 1, 1}});
  trace_.kernel("b", 50, 50, 60, {other, 0, 7, 0, {1, 1, 1}});
  trace_.kernel("c", 51, 61, 70, {foreign, 0, 7, 0, {1, 1, 1}});
  const auto stages = find();
  ASSERT_TRUE(stages);
  EXPECT_EQ(stage_of_kernel(*stages, 0), "decode");
  EXPECT_EQ(stage_of_kernel(*stages, 1), "decode");
  EXPECT_EQ(stage_of_kernel(*stages, 2), "none");
  ASSERT_EQ(stages->steps.size(), 1U);
  EXPECT_TRUE(stages->owners.kernel_step[0].valid());
  EXPECT_FALSE(stages->owners.kernel_step[1].valid());
}

TEST_F(AnnotatedStagesTest, KeepsPushPopRangesToTheirThread) {
  trace_.range("prefill", 0, 100);
  trace_.kernel("a", 20, 20, 30, {trace_.thread(2), 0, 7, 0, {1, 1, 1}});
  trace_.kernel("b", 20, 31, 40);
  const auto stages = find();
  ASSERT_TRUE(stages);
  EXPECT_EQ(stage_of_kernel(*stages, 0), "none");
  EXPECT_EQ(stage_of_kernel(*stages, 1), "prefill");
}

// Overlapping start/end ranges: the one opened last is the innermost; ranges closed under it are
// gone.
TEST_F(AnnotatedStagesTest, FollowsStartEndRangesThatOverlap) {
  trace_.range("prefill", 0, 50, trace::RangeKind::start_end);
  trace_.range("decode_all", 30, 80, trace::RangeKind::start_end);
  trace_.kernel("a", 20, 20, 21);
  trace_.kernel("b", 40, 40, 41);
  trace_.kernel("c", 60, 60, 61);
  trace_.kernel("d", 90, 90, 91);
  const auto stages = find();
  ASSERT_TRUE(stages);
  EXPECT_EQ(stage_of_kernel(*stages, 0), "prefill");
  EXPECT_EQ(stage_of_kernel(*stages, 1), "decode");
  EXPECT_EQ(stage_of_kernel(*stages, 2), "decode");
  EXPECT_EQ(stage_of_kernel(*stages, 3), "none");
}

TEST_F(AnnotatedStagesTest, EndsAnUnclosedRangeAtItsLastGpuWork) {
  trace_.range("prefill", 0, trace::kOpenEnd);
  trace_.kernel("a", 5, 10, 20);
  trace_.kernel("b", 6, 30, 45);
  const auto stages = find();
  ASSERT_TRUE(stages);
  EXPECT_EQ(stages->instances[0].end, 45);
  EXPECT_EQ(stages->instances[0].wall(), 45);
  EXPECT_FALSE(diagnostics_.has("stage_extended"));
}

TEST_F(AnnotatedStagesTest, SeparatesProcessesWithEqualCorrelations) {
  const trace::ThreadId one = trace_.thread(trace_.process(10), 10);
  const trace::ThreadId two = trace_.thread(trace_.process(20), 20);
  trace_.range("prefill", 0, 50, trace::RangeKind::push_pop, one);
  trace_.range("decode_all", 0, 50, trace::RangeKind::push_pop, two);
  trace_.kernel("a", 10, 10, 20, {one, 0, 7, 5, {1, 1, 1}});
  trace_.kernel("b", 10, 11, 20, {two, 1, 7, 5, {1, 1, 1}});
  const auto stages = find();
  ASSERT_TRUE(stages);
  EXPECT_EQ(stage_of_kernel(*stages, 0), "prefill");
  EXPECT_EQ(stage_of_kernel(*stages, 1), "decode");
}

TEST_F(AnnotatedStagesTest, IgnoresLibraryDomains) {
  trace_.range("prefill", 0, 100, trace::RangeKind::push_pop, {}, "CCCL");
  trace_.range("decode", 0, 100, trace::RangeKind::push_pop, {}, "NCCL");
  trace_.range("decode", 0, 100, trace::RangeKind::push_pop, {}, "someone's own");
  trace_.kernel("a", 5, 6, 10);
  EXPECT_FALSE(find());
}

TEST_F(AnnotatedStagesTest, ReadsADomainSpelledInTheName) {
  trace_.range("LLM@prefill", 0, 100);
  trace_.range("decode_all@LLM", 200, 300);
  trace_.range("LLM@decode_step", 210, 290);
  trace_.kernel("a", 5, 6, 10);
  trace_.kernel("b", 220, 221, 230);
  const auto stages = find();
  ASSERT_TRUE(stages);
  EXPECT_EQ(stage_of_kernel(*stages, 0), "prefill");
  EXPECT_EQ(stage_of_kernel(*stages, 1), "decode");
  EXPECT_EQ(stages->steps.size(), 1U);
  EXPECT_EQ(stages->stages[0].source, StageSource::nvtx);
}

TEST_F(AnnotatedStagesTest, MakesAnInstanceForEachGpuOfARange) {
  trace_.range("decode_all", 0, 100);
  trace_.range("decode_step", 0, 90);
  trace_.kernel("a", 5, 6, 10);
  trace_.kernel("b", 6, 8, 30, {{}, 1, 7, 0, {1, 1, 1}});
  const auto stages = find();
  ASSERT_TRUE(stages);
  ASSERT_EQ(stages->instances.size(), 2U);
  EXPECT_NE(stages->instances[0].device, stages->instances[1].device);
  EXPECT_EQ(instance_of_kernel(*stages, 0).work.kernel_sum, 4);
  EXPECT_EQ(instance_of_kernel(*stages, 1).work.kernel_sum, 22);
  EXPECT_EQ(stages->steps.size(), 2U);
}

TEST_F(AnnotatedStagesTest, TakesLoneDecodeStepsInARowForADecode) {
  trace_.range("prefill", 0, 10);
  for (Nanoseconds i = 0; i < 3; ++i) trace_.range("decode_step", 20 + i * 10, 28 + i * 10);
  trace_.range("prefill", 60, 70);
  for (Nanoseconds i = 0; i < 2; ++i) trace_.range("decode_step", 80 + i * 10, 88 + i * 10);
  for (Nanoseconds i = 0; i < 10; ++i) trace_.kernel("k", i * 10 + 1, i * 10 + 2, i * 10 + 5);
  const auto stages = find();
  ASSERT_TRUE(stages);
  ASSERT_EQ(stages->instances.size(), 4U);
  EXPECT_EQ(stages->instances[1].step_count, 3U);
  EXPECT_EQ(stages->instances[1].start, 20);
  EXPECT_EQ(stages->instances[1].end, 48);
  EXPECT_EQ(stages->instances[3].step_count, 2U);
  EXPECT_EQ(stage_of_kernel(*stages, 5), "none");
}

TEST_F(AnnotatedStagesTest, LeavesAPlainStepOutsideOfStagesAlone) {
  trace_.range("step", 0, 10);  // of a training loop, for example
  trace_.kernel("k", 1, 2, 5);
  EXPECT_FALSE(find());
}

TEST_F(AnnotatedStagesTest, MakesEveryEngineStepAnInstance) {
  const trace::RangeKind kind = trace::RangeKind::annotation;
  trace_.range("execute_context_2(512)_generation_0(0)", 0, 10, kind);
  trace_.range("execute_context_1(100)_generation_3(3)", 20, 30, kind);
  trace_.range("execute_context_0(0)_generation_4(4)", 40, 50, kind);
  trace_.range("execute_context_0(0)_generation_4(4)", 60, 70, kind);
  trace_.range("execute_context_0(0)_generation_0(0)", 80, 90, kind);  // nothing to do
  trace_.range("prefill", 0, 100);
  for (Nanoseconds i = 0; i < 5; ++i) trace_.kernel("k", i * 20 + 1, i * 20 + 2, i * 20 + 12);
  const auto stages = find();
  ASSERT_TRUE(stages);
  EXPECT_TRUE(stages->serving);
  ASSERT_EQ(stages->instances.size(), 4U);
  ASSERT_EQ(stages->steps.size(), 4U);
  EXPECT_EQ(stage_of_kernel(*stages, 0), "prefill");
  EXPECT_EQ(stage_of_kernel(*stages, 1), "mixed");
  EXPECT_EQ(stage_of_kernel(*stages, 2), "decode");
  EXPECT_EQ(stage_of_kernel(*stages, 4), "none");
  EXPECT_EQ(stages->stages[0].source, StageSource::annotation);
  EXPECT_EQ(stages->steps[0].batch, 2U);
  EXPECT_EQ(stages->steps[0].tokens, 512U);
  EXPECT_EQ(stages->steps[1].kind, StepKind::mixed);
  EXPECT_EQ(stages->steps[1].batch, 4U);
  EXPECT_EQ(stages->steps[1].tokens, 103U);
  const profile::TokenTimes times = token_times(token_walls(*stages));
  ASSERT_EQ(times.by_batch.size(), 1U);
  EXPECT_EQ(times.by_batch[0].batch, 4U);
  EXPECT_EQ(times.by_batch[0].step_wall.count, 2U);
  ASSERT_TRUE(times.time_per_output_token);
  EXPECT_DOUBLE_EQ(times.time_per_output_token->mean->value, 12e-6);  // 40 to 52, 60 to 72
  EXPECT_FALSE(times.time_to_first_token);
}

// An engine that annotates one step twice gives more detail in one of the ranges.
TEST_F(AnnotatedStagesTest, TakesTheContextsOfAStepFromTheInnerRange) {
  using trace::RangeKind;
  trace_.range("step[DECODE bs=2]", 0, 100, RangeKind::annotation);
  trace_.range("execute_2_context_0(sq0sk0sqsq0sqsk0)_generation_2(sq2sk30sqsq2sqsk30)", 10, 90,
               RangeKind::annotation);
  trace_.kernel("a", 20, 21, 50);
  trace_.range("step[DECODE bs=2]", 100, 200, RangeKind::annotation);
  trace_.range("execute_3_context_0(sq0sk0sqsq0sqsk0)_generation_3(sq3sk30sqsq3sqsk30)", 110, 190,
               RangeKind::annotation);  // another batch
  trace_.kernel("a", 120, 121, 150);
  const auto stages = find();
  ASSERT_TRUE(stages);
  ASSERT_EQ(stages->steps.size(), 2U);
  const auto sums = stages->steps[0].phases.sums();
  ASSERT_TRUE(sums);
  EXPECT_EQ(sums->decode, (llm::SequenceSums{2, 2, 30, 2, 30}));
  EXPECT_FALSE(stages->steps[1].phases.sums());
  EXPECT_EQ(stages->steps[1].phases.decode.sequences, 2U);
}

// TensorRT-LLM annotates each rank's step in that rank's process.
TEST_F(AnnotatedStagesTest, EachRankHasItsOwnSteps) {
  for (uint64_t rank = 0; rank < 2; ++rank) {
    const auto thread = trace_.thread(trace_.process(rank + 1), rank + 1);
    const auto start = static_cast<Nanoseconds>(rank);
    trace_.range("[Executor] _forward_step 7: 1 ctx reqs, 0 gen reqs", start, 90 + start,
                 trace::RangeKind::push_pop, thread);
    trace_.kernel("a", 20, 21, 50, {thread, static_cast<uint32_t>(rank)});
    trace_.range("[Executor] _forward_step 8: 0 ctx reqs, 3 gen reqs", 100 + start, 190 + start,
                 trace::RangeKind::push_pop, thread);
    trace_.kernel("a", 120, 121, 150, {thread, static_cast<uint32_t>(rank)});
  }
  const auto stages = find();
  ASSERT_TRUE(stages);
  EXPECT_TRUE(stages->serving);
  ASSERT_EQ(stages->instances.size(), 4U);
  ASSERT_EQ(stages->steps.size(), 4U);
  for (const Step& step : stages->steps) {
    const bool decode = step.kind == StepKind::decode;
    EXPECT_EQ(step.batch, decode ? 3U : 1U);
    EXPECT_EQ(step.phases.decode.sequences, decode ? 3U : 0U);
    EXPECT_EQ(step.work.kernel_count, 1U);
  }
}

TEST_F(AnnotatedStagesTest, StartsAnEngineStepWhereTheGpuIsDoneWithTheOneBefore) {
  trace_.range("step[DECODE bs=8]", 0, 10);
  trace_.range("step[DECODE bs=8]", 12, 20);
  trace_.kernel("a", 5, 6, 40);
  trace_.kernel("b", 15, 41, 70);
  const auto stages = find();
  ASSERT_TRUE(stages);
  ASSERT_EQ(stages->instances.size(), 2U);
  EXPECT_EQ(stages->instances[0].wall(), 40);
  EXPECT_EQ(stages->instances[1].start, 40);
  EXPECT_EQ(stages->instances[1].end, 70);
  EXPECT_EQ(stages->steps[1].wall(), 30);
}

TEST_F(AnnotatedStagesTest, NotesVisionInsidePrefill) {
  trace_.range("prefill", 0, 100);
  trace_.range("vision_tower", 10, 60);
  trace_.range("sam", 20, 30);
  trace_.range("projector", 60, 70);
  trace_.kernel("a", 15, 15, 18);
  trace_.kernel("b", 25, 25, 30);
  trace_.kernel("c", 65, 65, 66);
  trace_.kernel("d", 80, 80, 90);
  const auto stages = find();
  ASSERT_TRUE(stages);
  ASSERT_EQ(stages->stages.size(), 1U);
  EXPECT_EQ(stages->instances[0].work.kernel_count, 4U);
  ASSERT_EQ(stages->notes.size(), 3U);  // by name
  EXPECT_EQ(stages->notes[0].name, "projector");
  EXPECT_EQ(stages->notes[0].kernel_sum, 1);
  EXPECT_EQ(stages->notes[1].name, "sam");
  EXPECT_EQ(stages->notes[1].range_time, 10);
  EXPECT_EQ(stages->notes[1].kernel_sum, 5);
  EXPECT_EQ(stages->notes[2].name, "vision_tower");
  EXPECT_EQ(stages->notes[2].kernel_count, 2U);  // including nested notes
  EXPECT_EQ(stages->notes[2].kernel_sum, 8);
  EXPECT_EQ(stages->notes[2].range_time, 50);
}

TEST_F(AnnotatedStagesTest, HasTimesWithoutAGpu) {
  trace_.range("prefill", 0, 100);
  trace_.range("decode_all", 100, 200);
  trace_.range("decode_step", 100, 140);
  trace_.range("decode_step", 150, 200);
  const auto stages = find();
  ASSERT_TRUE(stages);
  ASSERT_EQ(stages->instances.size(), 2U);
  EXPECT_FALSE(stages->instances[0].device.valid());
  EXPECT_EQ(stages->instances[1].step_count, 2U);
  EXPECT_EQ(stages->steps[1].wall(), 50);
  EXPECT_EQ(token_walls(*stages).first_token, std::vector<Nanoseconds>({100}));
}

TEST_F(AnnotatedStagesTest, LeavesRangesAloneThatHoldNoKernel) {
  trace_.range("prefill", 0, 10);
  trace_.kernel("a", 50, 51, 60);
  EXPECT_FALSE(find());
  EXPECT_TRUE(diagnostics_.has("stage_ranges_empty"));
}

TEST_F(AnnotatedStagesTest, LeavesOutOccurrencesWithoutGpuWork) {
  trace_.range("prefill", 0, 10);
  trace_.range("prefill", 0, 12, trace::RangeKind::push_pop,
               trace_.thread(2));  // waits for the other
  trace_.kernel("a", 5, 6, 9);
  const auto stages = find();
  ASSERT_TRUE(stages);
  EXPECT_EQ(stages->instances.size(), 1U);
  EXPECT_TRUE(diagnostics_.has("stage_ranges_without_gpu_work"));
}

void note_step(HandMadeTrace& trace, Nanoseconds time, trace::StepTable::Kind kind, uint32_t batch,
               uint64_t tokens) {
  trace::StepTable& steps = trace.builder().trace().steps;
  steps.time.push_back(time);
  steps.thread.push_back(trace.thread(1));
  steps.kind.push_back(kind);
  steps.batch.push_back(batch);
  steps.tokens.push_back(tokens);
}

TEST_F(AnnotatedStagesTest, StepsAreAsTheProgramNotedThem) {
  trace_.range("prefill", 0, 100);
  note_step(trace_, 1, trace::StepTable::Kind::prefill, 2, 64);
  trace_.kernel("a", 10, 20, 90);
  trace_.range("decode_all", 100, 200);
  trace_.range("decode_step", 100, 150);
  note_step(trace_, 101, trace::StepTable::Kind::decode, 2, 2);
  trace_.kernel("b", 110, 120, 140);
  trace_.range("decode_step", 150, 200);
  note_step(trace_, 151, trace::StepTable::Kind::mixed, 3, 34);
  trace_.kernel("c", 160, 170, 190);
  const auto stages = find();
  ASSERT_TRUE(stages);
  ASSERT_EQ(stages->steps.size(), 3U);
  EXPECT_EQ(stages->steps[0].kind, StepKind::prefill);
  EXPECT_EQ(stages->steps[0].batch, 2U);
  EXPECT_EQ(stages->steps[0].tokens, 64U);
  EXPECT_EQ(stages->steps[1].kind, StepKind::decode);
  EXPECT_EQ(stages->steps[1].tokens, 2U);
  EXPECT_EQ(stages->steps[2].kind, StepKind::mixed);
  EXPECT_EQ(stages->steps[2].batch, 3U);
  EXPECT_EQ(stages->steps[2].tokens, 34U);
}

TEST_F(AnnotatedStagesTest, APrefillNotedInPiecesIsOneStep) {
  trace_.range("prefill", 0, 100);
  note_step(trace_, 1, trace::StepTable::Kind::prefill, 1, 512);
  note_step(trace_, 50, trace::StepTable::Kind::prefill, 1, 88);
  trace_.kernel("a", 10, 20, 90);
  trace_.range("decode_all", 100, 200);  // two steps noted, without ranges: their number is unknown
  note_step(trace_, 101, trace::StepTable::Kind::decode, 1, 1);
  note_step(trace_, 151, trace::StepTable::Kind::decode, 1, 1);
  trace_.kernel("b", 110, 120, 140);
  const auto stages = find();
  ASSERT_TRUE(stages);
  ASSERT_EQ(stages->steps.size(), 1U);
  EXPECT_EQ(stages->steps[0].tokens, 600U);
}

}  // namespace
}  // namespace llmprof::analysis
