#include "analysis/kernel_order/kernel_order.h"

#include <gtest/gtest.h>

#include <numeric>

#include "analysis/stages/annotated_stages.h"
#include "testing/hand_made_trace.h"

namespace llmprof::analysis {
namespace {

struct Sequenced {
  trace::Trace trace;
  Stages stages;
  std::vector<profile::KernelSequence> sequences;
  ClassesOfWork classes;
};

Sequenced sequenced(trace::Trace trace) {
  Sequenced found;
  found.trace = std::move(trace);
  const auto rules = StageRules::load(*config::ConfFiles::open(std::nullopt));
  const auto kernel_rules = KernelRules::load({});
  EXPECT_TRUE(rules && kernel_rules);
  Diagnostics diagnostics;
  const MeaningfulRanges ranges(found.trace, *rules);
  auto stages = annotated_stages(found.trace, ranges, diagnostics);
  EXPECT_TRUE(stages);
  if (stages) found.stages = std::move(*stages);
  std::tie(found.sequences, found.classes) =
      find_kernel_sequences(found.trace, found.stages, DescribedNames(found.trace, *kernel_rules));
  return found;
}

// A prefill of `layers` layers: embedding, then a, b, a per layer, then head.
void add_prefill(testing::HandMadeTrace& made, Nanoseconds at, int layers) {
  made.range("prefill", at, at + 1000);
  Nanoseconds next = at + 1;
  const auto kernel = [&](std::string_view name, Nanoseconds length) {
    made.kernel(name, next, next, next + length);
    next += length + 1;
  };
  kernel("embedding", 5);
  for (int layer = 0; layer < layers; ++layer) {
    kernel("a", 2);
    kernel("flash_attention_b", 7);
    kernel("a", 3);
    kernel("c", 1);
  }
  kernel("head", 11);
}

TEST(KernelSequences, PlacesAreTheNthLaunchOfANameInALayer) {
  testing::HandMadeTrace made;
  add_prefill(made, 0, 4);
  add_prefill(made, 2000, 4);
  const Sequenced found = sequenced(made.freeze());
  ASSERT_EQ(found.sequences.size(), 1U);
  const profile::KernelSequence& stage = found.sequences.front();
  EXPECT_EQ(stage.passes, 2U);
  EXPECT_EQ(stage.layers, 8U);
  std::vector<std::string> texts;
  Nanoseconds total = 0;
  for (const profile::PlacedKernel& row : stage.kernels) {
    texts.push_back(std::string(to_string(row.block)) + ' ' + row.key + ' ' +
                    std::to_string(row.occurrence) + ' ' + std::to_string(row.calls) + ' ' +
                    std::to_string(row.total_ns.value));
    total += row.total_ns.value;
  }
  const std::vector<std::string> expected = {"before_layers embedding 0 2 10",
                                             "layer a 0 8 16",
                                             "layer flash_attention_b 0 8 56",
                                             "layer a 1 8 24",
                                             "layer c 0 8 8",
                                             "after_layers head 0 2 22"};
  EXPECT_EQ(texts, expected);
  EXPECT_EQ(total, 2 * (5 + 4 * 13 + 11));
}

TEST(KernelSequences, ClassesOfAnInstanceSumToItsKernels) {
  testing::HandMadeTrace made;
  add_prefill(made, 0, 4);
  const Sequenced found = sequenced(made.freeze());
  ASSERT_EQ(found.classes.instances.size(), 1U);
  const ClassTimes& classes = found.classes.instances.front();
  EXPECT_EQ(std::accumulate(classes.begin(), classes.end(), Nanoseconds{0}),
            found.stages.instances.front().work.kernel_sum);
  EXPECT_EQ(classes[static_cast<size_t>(KernelClass::attention)], 4 * 7);
}

TEST(KernelSequences, AShortPassIsOneBlock) {
  testing::HandMadeTrace made;
  made.range("prefill", 0, 100);
  made.kernel("x", 1, 1, 3);
  made.kernel("y", 4, 4, 9);
  const Sequenced found = sequenced(made.freeze());
  const profile::KernelSequence& stage = found.sequences.front();
  EXPECT_EQ(stage.layers, 0U);
  ASSERT_EQ(stage.kernels.size(), 2U);
  EXPECT_EQ(stage.kernels[0].block, profile::PassBlock::whole_pass);
}

}  // namespace
}  // namespace llmprof::analysis
