#include "analysis/detection/detected_stages.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <functional>

#include "testing/hand_made_trace.h"

namespace llmprof::analysis {
namespace {

constexpr std::string_view kRules = R"(
rules:
  - prefix: [attention]
    class: attention
  - prefix: [gemm]
    class: gemm
  - prefix: [softmax]
    class: softmax
  - prefix: [add, fill, backward]
    class: elementwise
  - prefix: [vectorized_gather_kernel, index_select]
    class: embedding/gather
  - prefix: [argmax, topk]
    class: sampling/top-k
)";

constexpr Nanoseconds kMicrosecond = 1000;
constexpr Nanoseconds kMillisecond = 1000 * kMicrosecond;

// One forward pass as a program runs it.
struct Pass {
  StepKind kind = StepKind::decode;
  uint32_t tokens = 1;
  uint32_t sequences = 1;
  uint32_t layers = 6;
  bool packed = false;  // a serving engine's: rows are gathered before the last GEMM
};

// A program that runs passes one after another, and remembers which kernels are whose.
class Program {
 public:
  struct Truth {
    size_t begin;  // rows of the kernel table
    size_t end;
    Pass pass;
  };
  using Layer = std::function<void(Program&, const Pass&, uint32_t layer)>;

  void kernel(std::string_view name, uint32_t blocks = 1) {
    testing::HandMadeTrace::Place place;
    place.grid = {blocks, 1, 1};
    place.device = device_;
    if (thread_ != 0) place.thread = trace_.thread(thread_);
    place.correlation = graph_;
    trace_.kernel(name, now_, now_ + 2 * kMicrosecond, now_ + 5 * kMicrosecond, place);
    now_ += 10 * kMicrosecond;
    ++rows_;
  }
  // All kernels until the next call are nodes of one graph launch; 0: of none.
  void in_graph(uint32_t launch) { graph_ = launch == 0 ? 0 : kGraphs + launch; }
  void wait(Nanoseconds time) { now_ += time; }
  void on_device(uint32_t device) { device_ = device; }
  void on_thread(uint64_t thread) { thread_ = thread; }
  void replay() {
    trace_.replay(now_, now_ + 2 * kMicrosecond, now_ + 500 * kMicrosecond);
    now_ += 510 * kMicrosecond;
  }
  void read_back() {
    trace_.copy(now_, now_ + 2 * kMicrosecond, now_ + 3 * kMicrosecond);
    trace::Trace& trace = trace_.builder().trace();
    trace.memory_operations.detail.back() = trace_.builder().string("Device-to-Host");
    now_ += 10 * kMicrosecond;
  }

  static void dense_layer(Program& program, const Pass& pass, uint32_t /*layer*/) {
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

  void attention(const Pass& pass) {
    if (pass.kind == StepKind::prefill && !pass.packed) {
      kernel("attention_prefill", pass.tokens);
    } else {
      kernel("attention_split", pass.sequences);
      kernel("attention_join", pass.sequences);
    }
  }

  void pass(const Pass& pass, const Layer& layer = dense_layer) {
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
    kernel("gemm_head");
    kernel("argmax", pass.sequences);
    truth_.push_back({begin, rows_, pass});
  }
  void request(uint32_t prompt, uint32_t steps, const Layer& layer = dense_layer) {
    pass({.kind = StepKind::prefill, .tokens = prompt}, layer);
    for (uint32_t i = 0; i < steps; ++i) pass({}, layer);
  }

  const Stages& detect() {
    const config::ConfText text{"rules", std::string(kRules)};
    const auto rules = KernelRules::parse(std::span(&text, 1));
    EXPECT_TRUE(rules) << rules.error().message;
    frozen_ = trace_.freeze();
    const DescribedNames names(frozen_, *rules);
    const auto start = std::chrono::steady_clock::now();
    stages_ = detected_stages(frozen_, names, diagnostics_);
    took_ = std::chrono::steady_clock::now() - start;
    return stages_;
  }

  // Every pass is a step with its kernels, all of them and no others; no other kernel is owned.
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
  [[nodiscard]] double seconds() const { return took_.count(); }
  [[nodiscard]] size_t rows() const { return rows_; }

 private:
  static constexpr uint32_t kGraphs = 1'000'000'000;  // beyond all other correlation ids
  testing::HandMadeTrace trace_;
  uint32_t graph_ = 0;
  Nanoseconds now_ = kMillisecond;
  uint32_t device_ = 0;
  uint64_t thread_ = 0;  // 0: the first
  size_t rows_ = 0;
  std::vector<Truth> truth_;
  trace::Trace frozen_;
  Stages stages_;
  Diagnostics diagnostics_;
  std::chrono::duration<double> took_{};
};

TEST(DetectedStagesTest, RequestsOfOnePrefillAndSomeSteps) {
  Program program;
  for (int i = 0; i < 300; ++i) program.kernel("fill_weights", 1000);
  program.wait(50 * kMillisecond);
  program.request(512, 4);
  program.request(512, 16);
  const Stages& stages = program.detect();
  program.expect_all_found();
  ASSERT_EQ(stages.stages.size(), 2U);
  EXPECT_EQ(stages.stages[0].name, "prefill");
  EXPECT_EQ(stages.stages[0].source, StageSource::detected);
  EXPECT_EQ(stages.stages[1].name, "decode");
  ASSERT_EQ(stages.instances.size(), 4U);
  EXPECT_EQ(stages.instances[1].step_count, 4U);
  EXPECT_EQ(stages.instances[3].step_count, 16U);
  EXPECT_FALSE(stages.serving);
  EXPECT_EQ(stages.steps[0].tokens, 512U);
  EXPECT_EQ(stages.steps[0].batch, 1U);
  EXPECT_EQ(stages.steps[1].tokens, 1U);
  ASSERT_TRUE(stages.confidence);
  EXPECT_GT(*stages.confidence, 0.95);
}

TEST(DetectedStagesTest, KernelsMayChangeWithTheContext) {
  Program program;
  int steps = 0;
  const Program::Layer layer = [&](Program& r, const Pass& pass, uint32_t) {
    r.kernel("add_norm", pass.tokens * 4);
    r.kernel(steps < 60 ? "gemm_qkv" : "gemm_qkv_other");
    r.attention(pass);
    if (steps > 40) r.kernel("gemm_split");
    r.kernel("gemm_out");
    r.kernel("add_gate", pass.tokens * 11);
    ++steps;
  };
  program.request(300, 20, layer);
  program.request(300, 20, layer);
  program.detect();
  program.expect_all_found();
}

// A loop over the experts that were hit has another length in every layer.
TEST(DetectedStagesTest, LayersNeedNotBeEqual) {
  Program program;
  uint32_t random = 1;
  const Program::Layer layer = [&](Program& r, const Pass& pass, uint32_t) {
    r.kernel("add_norm", pass.tokens * 4);
    r.kernel("gemm_qkv");
    r.attention(pass);
    r.kernel("topk", pass.tokens);
    random = random * 1664525U + 1013904223U;
    for (uint32_t expert = 0; expert < 2 + (random >> 28U); ++expert) {
      r.kernel("gemm_expert");
      r.kernel("add_expert", pass.tokens);
    }
  };
  program.request(128, 12, layer);
  program.request(128, 12, layer);
  const Stages& stages = program.detect();
  program.expect_all_found();
  EXPECT_LT(*stages.confidence, 0.7);  // hardly any pass repeats kernel by kernel
}

TEST(DetectedStagesTest, ExpertsInEverySecondLayerMarkNoPass) {
  Program program;
  const Program::Layer layer = [](Program& r, const Pass& pass, uint32_t number) {
    Program::dense_layer(r, pass, number);
    if (number % 2 == 1) r.kernel("topk", pass.tokens);
    if (number % 2 == 1) r.kernel("gemm_expert");
  };
  program.request(128, 12, layer);
  program.request(128, 12, layer);
  program.detect();
  program.expect_all_found();
}

TEST(DetectedStagesTest, ModelsOfTwoLayers) {
  Program program;
  for (int request = 0; request < 3; ++request) {
    program.pass({.kind = StepKind::prefill, .tokens = 99, .layers = 2});
    for (int i = 0; i < 9; ++i) program.pass({.layers = 2});
  }
  program.detect();
  program.expect_all_found();
}

TEST(DetectedStagesTest, AttentionMayBeUnfused) {
  Program program;
  const Program::Layer layer = [](Program& r, const Pass& pass, uint32_t) {
    r.kernel("add_norm", pass.tokens * 4);
    r.kernel("gemm_qkv");
    r.kernel("gemm_scores");
    r.kernel("add_mask");
    r.kernel("softmax", pass.tokens);
    r.kernel("gemm_values");
    r.kernel("gemm_mlp");
  };
  program.request(64, 8, layer);
  program.request(64, 8, layer);
  program.detect();
  program.expect_all_found();
}

// What the host reads ends a step, even if kernels stand between it and the selection.
TEST(DetectedStagesTest, AStepEndsWhereItsResultIsRead) {
  Program program;
  std::vector<size_t> ends;
  program.pass({.kind = StepKind::prefill, .tokens = 200});
  for (int i = 0; i < 10; ++i) {
    program.pass({});
    program.kernel("add_stopping");
    program.kernel("add_unfinished");
    ends.push_back(program.rows());
    program.read_back();
  }
  const Stages& stages = program.detect();
  ASSERT_EQ(stages.steps.size(), 11U);
  for (size_t i = 0; i < ends.size(); ++i) {
    EXPECT_EQ(stages.owners.kernel_step[ends[i] - 1], StepId(i + 1));
    if (i + 1 < ends.size()) {
      EXPECT_EQ(stages.owners.kernel_step[ends[i]], StepId(i + 2));
    }
    EXPECT_EQ(stages.owners.memory_step[i], StepId(i + 1));
  }
}

TEST(DetectedStagesTest, AGraphLaunchIsNotCut) {
  Program program;
  program.pass({.kind = StepKind::prefill, .tokens = 200});
  std::vector<size_t> ends;
  for (uint32_t i = 1; i <= 10; ++i) {
    program.in_graph(i);
    program.pass({});
    program.kernel("add_position");  // after the selection
    ends.push_back(program.rows());
  }
  const Stages& stages = program.detect();
  ASSERT_EQ(stages.steps.size(), 11U);
  for (size_t i = 0; i + 1 < ends.size(); ++i) {
    EXPECT_EQ(stages.owners.kernel_step[ends[i] - 1], StepId(i + 1));
    EXPECT_EQ(stages.owners.kernel_step[ends[i]], StepId(i + 2));
  }
}

TEST(DetectedStagesTest, StepsAloneAreAGuess) {
  Program program;
  for (int i = 0; i < 20; ++i) program.pass({});
  const Stages& stages = program.detect();
  program.expect_all_found();
  ASSERT_EQ(stages.instances.size(), 1U);
  EXPECT_LE(*stages.confidence, 0.7);
  EXPECT_NE(stages.reason.find("their kind is a guess"), std::string::npos);
}

TEST(DetectedStagesTest, PrefillsAlone) {
  Program program;
  for (int i = 0; i < 5; ++i) program.pass({.kind = StepKind::prefill, .tokens = 512});
  const Stages& stages = program.detect();
  program.expect_all_found();
  EXPECT_EQ(stages.instances.size(), 5U);
}

TEST(DetectedStagesTest, HiddenGraphReplaysAreSteps) {
  Program program;
  for (int request = 0; request < 3; ++request) {
    program.pass({.kind = StepKind::prefill, .tokens = 200});
    for (int i = 0; i < 7; ++i) {
      program.kernel("fill_position");
      program.replay();
    }
  }
  const Stages& stages = program.detect();
  ASSERT_EQ(stages.steps.size(), 24U) << stages.reason;
  ASSERT_EQ(stages.instances.size(), 6U);
  for (size_t i = 0; i < 6; ++i) {
    const bool decode = i % 2 == 1;
    EXPECT_EQ(stages.stages[stages.instances[i].stage].name, decode ? "decode" : "prefill");
    EXPECT_EQ(stages.instances[i].step_count, decode ? 7U : 1U);
    if (decode) {
      EXPECT_EQ(stages.instances[i].work.hidden_graph_sum, kMicrosecond * 7 * 498);
    }
  }
  for (size_t i = 0; i < stages.owners.replay_step.size(); ++i) {
    EXPECT_EQ(stages.owners.replay_step[i], StepId(i / 7 * 8 + 1 + i % 7));
  }
}

// Sequences come and go: 2 are decoded, a third and a fourth join while the others go on.
TEST(DetectedStagesTest, ContinuousBatching) {
  Program program;
  const auto engine = [&](StepKind kind, uint32_t tokens, uint32_t sequences) {
    program.pass({.kind = kind, .tokens = tokens, .sequences = sequences, .packed = true});
    program.read_back();
  };
  engine(StepKind::prefill, 300, 2);
  for (int i = 0; i < 5; ++i) engine(StepKind::decode, 2, 2);
  engine(StepKind::mixed, 2 + 170, 3);
  for (int i = 0; i < 4; ++i) engine(StepKind::decode, 3, 3);
  engine(StepKind::mixed, 3 + 50, 4);
  for (int i = 0; i < 3; ++i) engine(StepKind::decode, 4, 4);
  engine(StepKind::decode, 2, 2);
  engine(StepKind::prefill, 80, 1);  // the two wait
  for (int i = 0; i < 4; ++i) engine(StepKind::decode, 3, 3);

  const Stages& stages = program.detect();
  program.expect_all_found();
  EXPECT_TRUE(stages.serving);
  EXPECT_EQ(stages.instances.size(), program.truth().size());
  EXPECT_EQ(stages.stages.size(), 3U);
  for (size_t i = 0; i < program.truth().size(); ++i) {
    EXPECT_EQ(stages.steps[i].tokens, program.truth()[i].pass.tokens) << i;
    EXPECT_EQ(stages.steps[i].batch, program.truth()[i].pass.sequences) << i;
  }
}

// Long prompts in pieces: the sequences whose prompts are through get a token in every pass.
TEST(DetectedStagesTest, PromptsInPiecesBesideSequencesThatGoOn) {
  Program run;
  const auto engine = [&](StepKind kind, uint32_t tokens, uint32_t sequences) {
    run.pass({.kind = kind, .tokens = tokens, .sequences = sequences, .packed = true});
    run.read_back();
  };
  engine(StepKind::prefill, 256, 2);
  engine(StepKind::mixed, 256, 3);
  engine(StepKind::mixed, 256, 4);
  engine(StepKind::mixed, 250, 4);
  for (int i = 0; i < 6; ++i) engine(StepKind::decode, 4, 4);
  run.detect();
  run.expect_all_found();
}

// The same number of sequences again, right after the last: the next requests, not a mixed step.
TEST(DetectedStagesTest, BatchesOneAfterTheOther) {
  Program run;
  for (int request = 0; request < 3; ++request) {
    run.pass({.kind = StepKind::prefill, .tokens = 4 * 90, .sequences = 4});
    for (int i = 0; i < 6; ++i) run.pass({.kind = StepKind::decode, .tokens = 4, .sequences = 4});
  }
  const Stages& stages = run.detect();
  run.expect_all_found();
  EXPECT_EQ(stages.stages.size(), 2U);
}

TEST(DetectedStagesTest, EachGpuHasItsOwn) {
  Program program;
  for (int request = 0; request < 2; ++request) {
    for (uint32_t device = 0; device < 2; ++device) {
      program.on_device(device);
      program.request(100, 5);
    }
  }
  const Stages& stages = program.detect();
  program.expect_all_found();
  ASSERT_EQ(stages.instances.size(), 8U);
  EXPECT_NE(stages.instances[0].device, stages.instances[2].device);
}

TEST(DetectedStagesTest, NothingToFindSaysWhy) {
  Program convolutions;
  for (int i = 0; i < 1000; ++i) convolutions.kernel(i % 3 == 0 ? "gemm_conv" : "add_relu");
  EXPECT_EQ(convolutions.detect().reason,
            "no kernel is known as attention, and no softmax runs between two GEMMs");

  Program diffusion;  // layers repeat, but there are no tokens
  for (int i = 0; i < 100; ++i) Program::dense_layer(diffusion, {}, 0);
  const Stages& stages = diffusion.detect();
  EXPECT_TRUE(stages.stages.empty());
  EXPECT_FALSE(stages.confidence);
  EXPECT_NE(stages.reason.find("attention runs 100 times, but no embedding"), std::string::npos);

  Program training;
  for (int i = 0; i < 4; ++i) {
    training.pass({.kind = StepKind::prefill, .tokens = 100});
    for (int j = 0; j < 50; ++j) training.kernel("backward_add");
  }
  EXPECT_NE(training.detect().reason.find("training"), std::string::npos);

  Program nothing;
  EXPECT_EQ(nothing.detect().reason, "the capture contains no GPU work with timestamps");

  Program single;
  single.pass({.kind = StepKind::prefill, .tokens = 100});
  EXPECT_TRUE(single.detect().stages.empty());
}

// A small model proposes three tokens, a large one verifies them in one pass.
TEST(DetectedStagesTest, DraftAndVerifyPassesAreToldApart) {
  Program program;
  for (int request = 0; request < 3; ++request) {
    program.pass({.kind = StepKind::prefill, .tokens = 400, .layers = 16});
    program.read_back();
    program.pass({.kind = StepKind::prefill, .tokens = 400, .layers = 4});
    program.read_back();
    for (int turn = 0; turn < 6; ++turn) {
      for (int draft = 0; draft < 3; ++draft) {
        program.pass({.layers = 4});
        program.read_back();
      }
      program.pass({.layers = 16});
      program.read_back();
    }
  }
  const Stages& stages = program.detect();
  program.expect_all_found();
  for (size_t i = 0; i < stages.steps.size(); ++i) {
    EXPECT_EQ(stages.steps[i].layers, program.truth()[i].pass.layers) << i;
  }
  EXPECT_TRUE(program.said("speculative_decoding"));
  EXPECT_FALSE(program.said("several_models"));
}

// Two models that are measured one after the other do not speculate.
TEST(DetectedStagesTest, TwoModelsInOneCaptureAreSaid) {
  Program program;
  for (const uint32_t layers : {4U, 16U}) {
    for (int request = 0; request < 3; ++request) {
      program.pass({.kind = StepKind::prefill, .tokens = 400, .layers = layers});
      program.read_back();
      for (int i = 0; i < 8; ++i) {
        program.pass({.layers = layers});
        program.read_back();
      }
    }
  }
  program.detect();
  program.expect_all_found();
  EXPECT_TRUE(program.said("several_models"));
  EXPECT_FALSE(program.said("speculative_decoding"));
}

constexpr std::array<std::string_view, 9> kLayerOfNoName{"a", "b", "c", "d", "e",
                                                         "f", "g", "h", "i"};

// Training without a telling name: forward passes by the program's thread, backward passes by the
// framework's. The same kernels by one thread are no training.
TEST(DetectedStagesTest, PassesOfTwoThreadsInTurnAreTraining) {
  const auto run = [](uint64_t second_thread) {
    Program program;
    for (int step = 0; step < 8; ++step) {
      for (const bool backward : {false, true}) {
        program.on_thread(backward ? second_thread : 1);
        program.kernel("embed");
        for (int layer = 0; layer < 6; ++layer) {
          for (const std::string_view name : kLayerOfNoName) program.kernel(name, backward ? 2 : 1);
        }
        program.kernel("head");
        program.read_back();
      }
    }
    return program.detect();
  };
  const Stages training = run(2);
  EXPECT_TRUE(training.stages.empty());
  EXPECT_NE(training.reason.find("two threads in turn"), std::string::npos) << training.reason;
  EXPECT_EQ(run(1).reason.find("two threads in turn"), std::string::npos);
}

// The softmax of a loss stands between the product of a head and the first of the backward pass, in
// each training step as often, beside an embedding: names alone take that for a model's layers.
TEST(DetectedStagesTest, TheSoftmaxOfALossIsNoAttention) {
  Program program;
  uint32_t random = 7;
  for (int step = 0; step < 12; ++step) {
    program.kernel("vectorized_gather_kernel", 64);
    for (int head = 0; head < 2; ++head) {
      for (int i = 0; i < 20; ++i) {
        random = random * 1664525U + 1013904223U;
        program.kernel(random >> 31U != 0 ? "gemm_a" : "add_a", 1 + (random >> 20U) % 9);
      }
      program.kernel("gemm_head");
      program.kernel("softmax", 64);
      program.kernel("gemm_gradient");
    }
    program.kernel("argmax");
  }
  const Stages& stages = program.detect();
  EXPECT_TRUE(stages.stages.empty()) << stages.reason;
  EXPECT_NE(stages.reason.find("a softmax runs between two GEMMs 24 times, but "),
            std::string::npos)
      << stages.reason;
}

// A program that was killed in its last decode: 41 of 64 steps.
TEST(DetectedStagesTest, ALastDecodeThatIsCutOffIsInNoMean) {
  Program program;
  for (int i = 0; i < 3; ++i) program.request(400, 64);
  program.request(400, 41);
  const Stages& stages = program.detect();
  program.expect_all_found();
  std::vector<uint64_t> counted;
  for (const StageInstance& instance : stages.instances) {
    if (!instance.warmup && stages.stages[instance.stage].name == "decode") {
      counted.push_back(instance.step_count);
    }
  }
  EXPECT_EQ(counted, (std::vector<uint64_t>{64, 64, 64}));
  EXPECT_TRUE(program.said("stage_cut_off"));
}

TEST(DetectedStagesTest, NoiseIsNoModel) {
  Program program;
  uint32_t random = 7;
  constexpr std::array<std::string_view, 8> kNames{
      "attention_split", "gemm_a", "add_a", "argmax", "gemm_b", "add_b", "index_select", "topk"};
  for (int i = 0; i < 5000; ++i) {
    random = random * 1664525U + 1013904223U;
    program.kernel(kNames[random >> 29U], 1 + (random >> 20U) % 7);
  }
  const Stages& stages = program.detect();
  EXPECT_TRUE(stages.stages.empty() || *stages.confidence < 0.5) << stages.reason;
}

// Whatever the order of things, steps follow each other and do not overlap.
TEST(DetectedStagesTest, StepsNeverOverlap) {
  for (uint32_t seed = 1; seed <= 200; ++seed) {
    Program program;
    uint32_t random = seed;
    const auto draw = [&](uint32_t below) {
      random = random * 1664525U + 1013904223U;
      return (random >> 16U) % below;
    };
    for (int i = 0; i < 30; ++i) {
      switch (draw(6)) {
        case 0:
          program.kernel("add_other", 1 + draw(100));
          break;
        case 1:
          program.replay();
          break;
        case 2:
          program.read_back();
          break;
        case 3:
          program.in_graph(draw(4));
          break;
        default:
          program.pass({.kind = draw(3) == 0 ? StepKind::prefill : StepKind::decode,
                        .tokens = 1 + draw(40),
                        .sequences = 1 + draw(3),
                        .layers = 4 + draw(seed % 3 + 1),
                        .packed = draw(5) == 0});
      }
    }
    const Stages& stages = program.detect();
    uint32_t reached = 0;
    for (const StepId step : stages.owners.kernel_step) {
      if (!step.valid()) continue;
      ASSERT_GE(step.value, reached) << "seed " << seed;
      reached = step.value;
    }
  }
}

// A server saves a cache 5 ms after the last token, and runs the next prompt 5 ms later.
TEST(DetectedStagesTest, CopiesBetweenRequestsAreOfNoPass) {
  Program program;
  for (int request = 0; request < 4; ++request) {
    program.request(256, 20);
    program.wait(5 * kMillisecond);
    program.read_back();
    program.wait(5 * kMillisecond);
  }
  const Stages& stages = program.detect();
  program.expect_all_found();
  ASSERT_EQ(stages.owners.memory_instance.size(), 4U);
  for (const auto& owner : stages.owners.memory_instance) EXPECT_FALSE(owner.valid());
}

TEST(DetectedStagesTest, ThreeMillionKernelsTakeASecondAtTheMost) {
  Program program;
  while (program.rows() < 3'000'000) program.request(200, 500);
  const Stages& stages = program.detect();
  EXPECT_EQ(stages.steps.size(), program.truth().size());
  RecordProperty("seconds", std::to_string(program.seconds()));
  // Half of it at -O2; more where sanitizers slow everything down.
  EXPECT_LT(program.seconds(), 8.0);
}

}  // namespace
}  // namespace llmprof::analysis
