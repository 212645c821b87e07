#include "testing/detected_program.h"
#include "testing/reasons.h"

namespace llmprof::analysis::detection_test {
namespace {

constexpr uint32_t kLayers = 6;
constexpr uint32_t kSteps = 5;

// A window that ends in layer `last` of a decode step, and one that starts in layer `first` of a
// later one. Returns the passes that are entirely inside a window.
std::vector<Program::Truth> run_with_cut_passes(Program& program, uint32_t last, uint32_t first) {
  program.begin_window();
  program.request(200, kSteps);
  std::vector<Program::Truth> whole = program.truth();
  program.pass({}, [&](Program& running, const ProgramPass& pass, uint32_t layer) {
    if (layer == last) running.end_window();
    Program::dense_layer(running, pass, layer);
  });
  for (uint32_t i = 0; i < 2; ++i) program.pass({});
  program.pass({}, [&](Program& running, const ProgramPass& pass, uint32_t layer) {
    if (layer == first) running.begin_window();
    Program::dense_layer(running, pass, layer);
  });
  const size_t before = program.truth().size();
  for (uint32_t i = 0; i < kSteps; ++i) program.pass({});
  whole.insert(whole.end(), program.truth().begin() + static_cast<std::ptrdiff_t>(before),
               program.truth().end());
  return whole;
}

// Parts of two passes may have as many layers as one pass, or more, or fewer.
TEST(UntracedCuts, NoPassGoesOnBehindThem) {
  for (uint32_t last = 1; last < kLayers; ++last) {
    for (uint32_t first = 1; first < kLayers; ++first) {
      Program program;
      const std::vector<Program::Truth> whole = run_with_cut_passes(program, last, first);
      const Stages& stages = program.detect();
      ASSERT_EQ(stages.steps.size(), whole.size()) << last << ' ' << first << stages.reason;
      for (size_t i = 0; i < whole.size(); ++i) {
        EXPECT_EQ(stages.steps[i].layers, kLayers);
        EXPECT_EQ(stages.steps[i].kind, whole[i].pass.kind);
        // The start of a pass is visible only after another pass.
        const size_t from = i == whole.size() - kSteps ? whole[i].begin + 1 : whole[i].begin;
        for (size_t row = from; row < whole[i].end; ++row) {
          ASSERT_EQ(stages.owners.kernel_step[row], StepId(i)) << last << ' ' << first;
        }
      }
      EXPECT_FALSE(program.said("several_models"));
    }
  }
}

TEST(UntracedCuts, AreBetweenTwoRequests) {
  Program program;
  program.begin_window();
  program.request(200, kSteps);
  program.end_window();
  program.request(200, kSteps);
  program.wait(kMillisecond);
  program.begin_window();
  for (uint32_t i = 0; i < kSteps; ++i) program.pass({});
  const Stages& stages = program.detect();
  ASSERT_EQ(stages.instances.size(), 3U);
  EXPECT_EQ(stages.instances[1].step_count, kSteps);
  EXPECT_EQ(stages.instances[2].step_count, kSteps);
  EXPECT_LT(stages.instances[2].wall(), 2 * stages.instances[1].wall());
}

TEST(TracedParts, OfADecodeAreInNoStatistics) {
  Program program;
  program.begin_window();
  program.request(200, kSteps);
  program.request(200, 2);
  program.end_window();
  program.pass({});
  program.begin_window();
  program.request(200, kSteps);
  const Stages& stages = program.detect();
  ASSERT_EQ(stages.instances.size(), 6U);
  for (size_t i = 0; i < stages.instances.size(); ++i) {
    EXPECT_EQ(stages.instances[i].warmup, i == 3) << i;
  }
  EXPECT_EQ(stages.instances[3].why_warmup, WarmupReason::cut_off);
  EXPECT_TRUE(program.said("stage_traced_in_part"));
}

// A request of fewer steps, entirely within a window.
TEST(TracedParts, AreAtTheEdgeOfAWindow) {
  Program program;
  program.begin_window();
  program.request(200, kSteps);
  program.request(200, 2);
  program.request(200, kSteps);
  program.end_window();
  program.pass({});
  program.begin_window();
  program.request(200, kSteps);
  program.detect();
  EXPECT_FALSE(program.said("stage_traced_in_part"));
}

}  // namespace
}  // namespace llmprof::analysis::detection_test
