#include "analysis/layers/layers.h"

#include <gtest/gtest.h>

#include <cmath>

#include "analysis/detection/detected_stages.h"
#include "analysis/stages/annotated_stages.h"
#include "testing/hand_made_trace.h"
#include "testing/read_capture.h"
#include "testing/reasons.h"
#include "testing/shared_captures.h"

namespace llmprof::analysis {
namespace {

using testing::Kinds;
using testing::kinds_of;
using testing::number_of;
using testing::text_of;

struct LayersOfTrace {
  trace::Trace trace;
  Stages stages;
  Layers layers;
};

LayersOfTrace find(trace::Trace trace, bool use_annotations = true) {
  LayersOfTrace found;
  found.trace = std::move(trace);
  const auto rules = StageRules::load(*config::ConfFiles::open(std::nullopt));
  EXPECT_TRUE(rules) << rules.error().message;
  const auto kernel_rules = KernelRules::load({});
  EXPECT_TRUE(kernel_rules);
  Diagnostics diagnostics;
  const MeaningfulRanges ranges(found.trace, *rules);
  auto stages = annotated_stages(found.trace, ranges, diagnostics);
  EXPECT_TRUE(stages);
  if (stages) found.stages = std::move(*stages);
  found.layers = find_layers(found.trace, found.stages, use_annotations ? &ranges : nullptr,
                             DescribedNames(found.trace, *kernel_rules));
  return found;
}

const profile::Layer* row(const LayersOfTrace& found, std::string_view stage, std::string_view name,
                          uint32_t model = 0) {
  for (const profile::Layer& each : found.layers.rows) {
    if (each.model_layers.value_or(0) != model) continue;
    if (each.stage == stage && each.name == name) return &each;
  }
  return nullptr;
}

// The whole number that a mean per pass was computed from.
int64_t over_passes(const profile::Layer& layer, double mean) {
  return std::llround(mean * static_cast<double>(std::max<uint64_t>(layer.passes, 1)));
}
uint64_t kernels_of(const profile::Layer& layer) {
  return static_cast<uint64_t>(over_passes(layer, layer.kernels_per_step));
}

// The kernels assigned to a layer are those that it counts.
void expect_kernels_of_layers(const LayersOfTrace& found) {
  const trace::KernelTable& kernels = found.trace.kernels;
  std::vector<Nanoseconds> sums(found.layers.rows.size(), 0);
  std::vector<uint64_t> counts(found.layers.rows.size(), 0);
  for (size_t i = 0; i < found.layers.of_kernel.size(); ++i) {
    const LayerRowId layer = found.layers.of_kernel[i];
    if (!layer.valid()) continue;
    sums[layer.index()] += kernels.end[i] - kernels.start[i];
    ++counts[layer.index()];
  }
  for (size_t i = 0; i < sums.size(); ++i) {
    const profile::Layer& each = found.layers.rows[i];
    const bool is_layer = !each.part && each.name != "outside layers";
    EXPECT_EQ(sums[i], is_layer ? each.total_ns.value : 0) << each.name;
    EXPECT_EQ(counts[i], is_layer ? kernels_of(each) : 0) << each.name;
  }
}

// Rows that are not parts add up to the stage's kernels outside warm-up, and classes to their row.
void expect_whole(const LayersOfTrace& found) {
  expect_kernels_of_layers(found);
  for (uint32_t stage = 0; stage < found.stages.stages.size(); ++stage) {
    Nanoseconds sum = 0;
    uint64_t count = 0;
    bool any = false;
    for (const profile::Layer& each : found.layers.rows) {
      if (each.stage != found.stages.stages[stage].name) continue;
      any = true;
      Nanoseconds of_classes = 0;
      for (const auto& [kernel_class, time] : each.classes) {
        of_classes += over_passes(each, time.value * kNanosecondsPerMillisecond);
      }
      EXPECT_EQ(of_classes, each.total_ns.value);
      if (each.part) continue;
      sum += each.total_ns.value;
      count += kernels_of(each);
    }
    if (!any) continue;
    Nanoseconds whole = 0;
    uint64_t kernels = 0;
    for (const StageInstance& instance : found.stages.instances) {
      if (instance.stage != stage || instance.warmup) continue;
      whole += instance.work.kernel_sum;
      kernels += instance.work.kernel_count;
    }
    EXPECT_EQ(sum, whole);
    EXPECT_EQ(count, kernels);
  }
}

TEST(Layers, AreRangesOpenAtTheLaunch) {
  testing::HandMadeTrace made;
  made.range("prefill", 0, 100);
  made.kernel("embedding", 1, 1, 3);
  for (Nanoseconds layer = 0; layer < 2; ++layer) {
    const Nanoseconds at = 10 + layer * 20;
    made.range(layer == 0 ? "layer_00" : "layer_01", at, at + 20);
    made.range("attn", at, at + 8);
    made.range("norm", at, at + 2);  // inside attn
    made.kernel("a", at + 1, at + 1, at + 3);
    made.kernel("b", at + 5, at + 5, at + 8);
    made.range("mlp", at + 10, at + 18);
    made.kernel("c", at + 11, at + 11, at + 15 + layer);
    made.kernel("d", at + 19, at + 19, at + 20);  // in the layer, but in no part
  }
  made.kernel("head", 60, 60, 65);
  const LayersOfTrace found = find(made.freeze());
  ASSERT_EQ(found.layers.rows.size(), 7U);
  EXPECT_EQ(found.layers.rows[0].name, "layer_00");
  EXPECT_EQ(found.layers.rows[0].total_ns.value, 2 + 3 + 4 + 1);
  EXPECT_EQ(found.layers.rows[0].passes, 1U);
  EXPECT_EQ(found.layers.rows[1].name, "layer_00/attn");
  EXPECT_TRUE(found.layers.rows[1].part);
  EXPECT_EQ(found.layers.rows[1].total_ns.value, 5);
  EXPECT_EQ(found.layers.rows[2].name, "layer_00/mlp");
  EXPECT_EQ(found.layers.rows[3].total_ns.value, 11);
  EXPECT_EQ(found.layers.rows[6].name, "outside layers");
  EXPECT_EQ(found.layers.rows[6].total_ns.value, 7);
  EXPECT_EQ(kernels_of(found.layers.rows[6]), 2U);
  expect_whole(found);
}

TEST(Layers, ReadModuleNamesAndLeaveVisionOutside) {
  testing::HandMadeTrace made;
  made.range("prefill", 0, 100);
  made.range("vision_tower", 0, 10);
  made.range("layer_00", 1, 9);
  made.kernel("v", 2, 2, 4);
  made.range("model.layers.10.self_attn", 20, 30);
  made.kernel("a", 21, 21, 24);
  made.range("model.layers.9.mlp", 40, 50);
  made.kernel("b", 41, 41, 46);
  const LayersOfTrace found = find(made.freeze());
  ASSERT_EQ(found.layers.rows.size(), 5U);
  EXPECT_EQ(found.layers.rows[0].name, "layer_09");
  EXPECT_EQ(found.layers.rows[1].name, "layer_09/mlp");
  EXPECT_EQ(found.layers.rows[2].name, "layer_10");
  EXPECT_EQ(found.layers.rows[4].name, "outside layers");
  EXPECT_EQ(found.layers.rows[4].total_ns.value, 2);
  expect_whole(found);
}

// Each step is one graph launch: an embedding, six layers of four kernels, and a head.
TEST(Layers, ArePeriodsWhereNoRangeShowsThem) {
  testing::HandMadeTrace made;
  made.range("decode_all", 0, 100000);
  for (Nanoseconds step = 0; step < 3; ++step) {
    const Nanoseconds at = step * 1000;
    made.range("decode_step", at, at + 10);
    Nanoseconds time = at + 100;
    made.kernel("embedding", at + 1, time, time + 5);
    for (int layer = 0; layer < 6; ++layer) {
      for (const char* name : {"norm", "qkv", "attention", "mlp"}) {
        time += 10;
        made.kernel(name, at + 1, time, time + 2 + (layer == 0 ? 1 : 0));
      }
    }
    made.kernel("head", at + 1, time + 10, time + 17);
  }
  const LayersOfTrace found = find(made.freeze());
  ASSERT_EQ(found.layers.rows.size(), 7U);
  EXPECT_EQ(found.layers.rows[0].name, "layer_00");
  EXPECT_EQ(found.layers.rows[0].source, StageSource::detected);
  EXPECT_EQ(found.layers.rows[0].passes, 3U);
  EXPECT_EQ(found.layers.rows[0].total_ns.value, 3 * 4 * 3);
  EXPECT_EQ(found.layers.rows[5].total_ns.value, 3 * 4 * 2);
  EXPECT_EQ(found.layers.rows[6].total_ns.value, 3 * (5 + 7));
  expect_whole(found);
}

// Sets the range in which each kernel's node was captured, by its row (-1: none), for kernels that
// do not have one yet.
void captured_in(testing::HandMadeTrace& made, const std::vector<int>& rows) {
  for (const int row : rows) {
    made.builder().trace().kernels.node_range.push_back(
        row < 0 ? trace::RangeRow() : trace::RangeRow(static_cast<size_t>(row)));
  }
}

// A graph captured in a warm-up's prefill, with ranges that start together.
void add_capture(testing::HandMadeTrace& made) {
  made.range("warm_up", 0, 110);      // 0
  made.range("prefill", 1, 100);      // 1
  made.range("layer_00", 10, 30);     // 2
  made.range("attn", 10, 20);         // 3
  made.range("bookkeeping", 13, 14);  // 4: without meaning
  made.range("layer_01", 40, 60);     // 5
}

// Both replays of that graph: two kernels in layer_00/attn, one in layer_00, one in layer_01 and
// one outside layers; then an eager kernel.
void add_replays(testing::HandMadeTrace& made) {
  for (const Nanoseconds at : {1000, 1200}) {
    made.kernel("a", at + 5, at + 10, at + 11);
    made.kernel("b", at + 5, at + 20, at + 22);
    made.kernel("c", at + 5, at + 30, at + 34);
    made.kernel("d", at + 5, at + 40, at + 48);
    made.kernel("e", at + 5, at + 50, at + 66);
    made.kernel("f", at + 70, at + 80, at + 112);
    captured_in(made, {4, 3, 2, 5, 1, -1});
  }
}

void expect_captured_layers(const LayersOfTrace& found) {
  expect_whole(found);
  ASSERT_EQ(found.layers.rows.size(), 4U);
  // The prefill that captured the graph has no kernels.
  for (const profile::Layer& each : found.layers.rows) {
    EXPECT_EQ(each.stage, "decode");
  }
  const profile::Layer& first = found.layers.rows[0];
  EXPECT_EQ(first.name, "layer_00");
  EXPECT_EQ(first.source, StageSource::captured);
  EXPECT_EQ(first.passes, 2U);
  EXPECT_EQ(kernels_of(first), 6U);
  EXPECT_EQ(first.total_ns.value, 2 * (1 + 2 + 4));
  EXPECT_EQ(found.layers.rows[1].name, "layer_00/attn");
  EXPECT_EQ(found.layers.rows[1].total_ns.value, 2 * (1 + 2));
  EXPECT_EQ(found.layers.rows[2].name, "layer_01");
  EXPECT_EQ(found.layers.rows[2].total_ns.value, 2 * 8);
  EXPECT_EQ(found.layers.rows[3].name, "outside layers");
  EXPECT_EQ(found.layers.rows[3].total_ns.value, 2 * (16 + 32));
}

TEST(Layers, OfReplaysAreThoseOfTheirCapture) {
  testing::HandMadeTrace made;
  add_capture(made);
  made.range("decode_all", 1000, 1400);
  made.range("decode_step", 1000, 1190);
  made.range("decode_step", 1200, 1390);
  add_replays(made);
  const LayersOfTrace found = find(made.freeze());
  expect_captured_layers(found);
}

// Each kernel of a replay refers to the replay's launch.
TEST(Layers, OfReplaysAreCountedByReplayWhereStepsAreNotKnown) {
  testing::HandMadeTrace made;
  add_capture(made);
  made.range("decode_all", 1000, 1400);
  testing::HandMadeTrace::Place place;
  for (const Nanoseconds at : {1000, 1100, 1200}) {
    place.correlation = static_cast<uint32_t>(at);
    made.kernel("a", at, at + 10, at + 11, place);
    made.kernel("b", at, at + 20, at + 22, place);
    made.kernel("c", at, at + 30, at + 34, place);
    captured_in(made, {2, 3, 5});
  }
  const LayersOfTrace found = find(made.freeze());
  expect_whole(found);
  ASSERT_NE(row(found, "decode", "layer_00"), nullptr);
  EXPECT_EQ(row(found, "decode", "layer_00")->passes, 3U);
  EXPECT_EQ(row(found, "decode", "layer_01")->total_ns.value, 3 * 4);
}

// A graph of one attention, captured outside layers and replayed in two.
TEST(Layers, OfAPartThatIsReplayedInsideThem) {
  testing::HandMadeTrace made;
  made.range("attn", 10, 20);
  made.range("decode_all", 1000, 2000);
  made.range("layer_04", 1100, 1200);
  made.range("layer_05", 1300, 1400);
  made.kernel("a", 1150, 1160, 1163);
  made.kernel("a", 1350, 1360, 1365);
  captured_in(made, {0, 0});
  const LayersOfTrace found = find(made.freeze());
  expect_whole(found);
  ASSERT_NE(row(found, "decode", "layer_04/attn"), nullptr);
  EXPECT_EQ(row(found, "decode", "layer_04/attn")->total_ns.value, 3);
  EXPECT_EQ(row(found, "decode", "layer_05/attn")->total_ns.value, 5);
}

// With annotations disabled, the capture's ranges are ignored too.
TEST(Layers, OfTheCaptureAreAnnotations) {
  testing::HandMadeTrace made;
  add_capture(made);
  made.range("decode_all", 1000, 1400);
  add_replays(made);
  const LayersOfTrace found = find(made.freeze(), false);
  EXPECT_EQ(row(found, "decode", "layer_00"), nullptr);
}

// A pass of layers, each a list of kernel names, between an embedding and a head; every kernel
// takes 2 ns.
trace::Trace pass_of(const std::vector<std::vector<const char*>>& layers) {
  testing::HandMadeTrace made;
  made.range("decode_all", 0, 100000);
  for (Nanoseconds step = 0; step < 3; ++step) {
    const Nanoseconds at = step * 2000;
    made.range("decode_step", at, at + 10);
    Nanoseconds time = at + 100;
    made.kernel("embedding", at + 1, time, time + 2);
    for (const auto& layer : layers) {
      for (const char* name : layer) {
        time += 10;
        made.kernel(name, at + 1, time, time + 2);
      }
    }
    made.kernel("head", at + 1, time + 10, time + 12);
  }
  return made.freeze();
}

std::vector<uint64_t> kernels_a_pass(const LayersOfTrace& found) {
  std::vector<uint64_t> counts;
  for (const profile::Layer& each : found.layers.rows) counts.push_back(kernels_of(each) / 3);
  return counts;
}

TEST(Layers, ThatAlternateAreEachALayer) {
  const std::vector<const char*> sliding = {"norm", "qkv",   "slice", "cut", "flash_fwd_kernel",
                                            "out",  "norm2", "mlp"};
  const std::vector<const char*> full = {"norm", "qkv", "flash_fwd_kernel", "out", "norm2", "mlp"};
  const LayersOfTrace found = find(pass_of({sliding, full, sliding, full, sliding, full}));
  EXPECT_EQ(kernels_a_pass(found), (std::vector<uint64_t>{8, 6, 8, 6, 8, 6, 2}));
  expect_whole(found);
}

TEST(Layers, UnlikeTheOthersAreLayersToo) {
  const std::vector<const char*> dense = {"norm", "q", "kv", "flash_fwd_kernel", "o", "mlp"};
  const std::vector<const char*> sparse = {"norm",    "q",      "kv",   "flash_fwd_kernel",
                                           "o",       "gate",   "topk", "scatter",
                                           "experts", "gather", "mlp"};
  const LayersOfTrace found = find(pass_of({dense, sparse, sparse, sparse, sparse}));
  EXPECT_EQ(kernels_a_pass(found), (std::vector<uint64_t>{6, 11, 11, 11, 11, 2}));
  EXPECT_EQ(kinds_of(found.layers.rows[0].note_reasons), Kinds{"unlike_median_layer"});
  EXPECT_EQ(number_of(found.layers.rows[0].note_reasons, "kernels_per_pass"), 6);
  EXPECT_EQ(number_of(found.layers.rows[0].note_reasons, "median_kernels_per_pass"), 11);
  EXPECT_TRUE(found.layers.rows[1].note_reasons.empty());
  expect_whole(found);
}

// A decoder with cross-attention has two attentions per layer.
TEST(Layers, MayHaveTwoAttentions) {
  const std::vector<const char*> layer = {
      "norm", "qkv",  "flash_fwd_kernel", "out", "add", "norm_x", "q_x", "flash_fwd_kernel",
      "out",  "bias", "norm_mlp",         "up",  "act", "down",   "sum"};
  const LayersOfTrace found = find(pass_of({layer, layer, layer, layer}));
  EXPECT_EQ(kernels_a_pass(found), (std::vector<uint64_t>{15, 15, 15, 15, 2}));
  expect_whole(found);
}

TEST(Layers, SayWhyThereAreNone) {
  testing::HandMadeTrace made;
  made.range("prefill", 0, 100);
  made.kernel("a", 1, 1, 3);
  made.kernel("b", 2, 4, 6);
  made.range("decode_all", 200, 300);
  made.replay(210, 220, 240);
  const LayersOfTrace found = find(made.freeze());
  EXPECT_TRUE(found.layers.rows.empty());
  ASSERT_EQ(kinds_of(found.layers.reason),
            (Kinds{"layers_not_repeating", "layers_in_hidden_graphs"}));
  EXPECT_EQ(text_of({found.layers.reason[0]}, "stage"), "prefill");
  EXPECT_EQ(text_of({found.layers.reason[1]}, "stage"), "decode");
}

// SQL: layer and part ranges inside the prefills that are not warm-up, joined to kernels by their
// launches. The program has 8 layers; a decode step replays 63 kernels for each.
TEST(Layers, OfADenseDecoderInCudaGraphs) {
  const auto captures = testing::h200_captures();
  auto trace = testing::read_capture(captures / "h200-dense-graph/nsys_node.sqlite");
  ASSERT_TRUE(trace);
  const LayersOfTrace found = find(std::move(*trace));
  expect_whole(found);
  const std::vector<std::array<Nanoseconds, 3>> expected = {
      {1328702, 557664, 771038}, {1331037, 560862, 770175}, {1329660, 557213, 772447},
      {1327260, 559006, 768254}, {1329567, 558720, 770847}, {1331516, 558590, 772926},
      {1329245, 558398, 770847}, {1330013, 559039, 770974}};
  for (size_t i = 0; i < expected.size(); ++i) {
    const std::string name = "layer_0" + std::to_string(i);
    ASSERT_NE(row(found, "prefill", name), nullptr);
    EXPECT_EQ(kernels_of(*row(found, "prefill", name)), 112U);
    EXPECT_EQ(row(found, "prefill", name)->total_ns.value, expected[i][0]);
    EXPECT_EQ(row(found, "prefill", name + "/attn")->total_ns.value, expected[i][1]);
    EXPECT_EQ(row(found, "prefill", name + "/mlp")->total_ns.value, expected[i][2]);
    ASSERT_NE(row(found, "decode", name), nullptr);
    EXPECT_EQ(kernels_of(*row(found, "decode", name)), 48U * 63);
    EXPECT_EQ(row(found, "decode", name)->passes, 48U);
    EXPECT_EQ(row(found, "decode", name)->source, StageSource::detected);
  }
  EXPECT_EQ(row(found, "prefill", "layer_08"), nullptr);
  EXPECT_EQ(row(found, "decode", "layer_08"), nullptr);
  EXPECT_EQ(kernels_of(*row(found, "decode", "outside layers")), 48U * (517 - 8 * 63));
}

// Without layer ranges, the prefill's period gives the same layers.
TEST(Layers, OfADenseDecoderWithoutItsRanges) {
  const auto captures = testing::h200_captures();
  auto trace = testing::read_capture(captures / "h200-dense-graph/nsys_node.sqlite");
  ASSERT_TRUE(trace);
  const LayersOfTrace found = find(std::move(*trace), false);
  expect_whole(found);
  ASSERT_NE(row(found, "prefill", "layer_07"), nullptr);
  EXPECT_EQ(row(found, "prefill", "layer_08"), nullptr);
  EXPECT_EQ(kernels_of(*row(found, "prefill", "layer_03")), 112U);
  EXPECT_EQ(row(found, "prefill", "layer_03")->source, StageSource::detected);
}

TEST(Layers, OfAnEagerLlama) {
  const auto captures = testing::h200_captures();
  auto trace = testing::read_capture(captures / "h200-llama-eager/nsys.sqlite");
  ASSERT_TRUE(trace);
  const LayersOfTrace found = find(std::move(*trace));
  expect_whole(found);
  for (const char* stage : {"prefill", "decode"}) {
    EXPECT_NE(row(found, stage, "layer_15"), nullptr);
    EXPECT_EQ(row(found, stage, "layer_16"), nullptr);
  }
}

// 12 text layers, the first one dense: 40 kernels instead of 75.
TEST(Layers, OfAMixtureOfExpertsWithADenseFirstLayer) {
  const auto captures = testing::h200_captures();
  auto trace = testing::read_capture(captures / "h200-hf/deepseek_ocr2.sqlite");
  ASSERT_TRUE(trace);
  const auto rules = StageRules::load(*config::ConfFiles::open(std::nullopt));
  const auto kernel_rules = KernelRules::load({});
  ASSERT_TRUE(rules && kernel_rules);
  const DescribedNames names(*trace, *kernel_rules);
  LayersOfTrace found;
  Diagnostics diagnostics;
  found.stages = detected_stages(*trace, names, diagnostics);
  // Both prefills of the 12-layer model; the first is cold. The capture also contains another
  // model, with 8 layers of 44 kernels each.
  for (StageInstance& instance : found.stages.instances) instance.warmup = false;
  const MeaningfulRanges ranges(*trace, *rules);
  found.layers = find_layers(*trace, found.stages, &ranges, names);
  ASSERT_NE(row(found, "prefill", "layer_11", 12), nullptr);
  EXPECT_EQ(row(found, "prefill", "layer_12", 12), nullptr);
  EXPECT_EQ(kernels_of(*row(found, "prefill", "layer_00", 12)), 2U * 40);
  EXPECT_EQ(kernels_of(*row(found, "prefill", "layer_11", 12)), 2U * 75);
  EXPECT_EQ(row(found, "prefill", "layer_00"), nullptr);
  ASSERT_NE(row(found, "prefill", "layer_03", 8), nullptr);
  EXPECT_EQ(row(found, "prefill", "layer_08", 8), nullptr);
  EXPECT_EQ(kernels_of(*row(found, "prefill", "layer_03", 8)), 44U);
  EXPECT_EQ(row(found, "prefill", "layer_03", 8)->passes, 1U);
  EXPECT_EQ(row(found, "decode", "layer_03", 8)->passes, 11U);
  EXPECT_EQ(kernels_of(*row(found, "decode", "layer_03", 8)), 11U * 47);
  EXPECT_EQ(row(found, "decode", "layer_03", 12)->passes, 3U);
  EXPECT_EQ(kernels_of(*row(found, "decode", "layer_03", 12)), 3U * 75);
  found.trace = std::move(*trace);
  expect_whole(found);
}

}  // namespace
}  // namespace llmprof::analysis
