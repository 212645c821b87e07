// Stages from structure: of third-party engines, and of captures with renamed kernels.

#include <gtest/gtest.h>

#include <fmt/format.h>

#include <array>
#include <unordered_map>

#include "analysis/detection/detected_stages.h"
#include "testing/read_capture.h"
#include "testing/reasons.h"
#include "testing/shared_captures.h"

namespace llmprof::analysis {
namespace {

enum class Names : uint8_t { as_recorded, replaced };

// Replaces each name one to one by a meaningless one.
void replace_names(trace::Trace& trace) {
  std::unordered_map<trace::StringId, trace::StringId> replaced;
  for (trace::StringId& name : trace.kernels.name) {
    const auto [known, fresh] = replaced.try_emplace(name);
    if (fresh) {
      known->second = trace.strings.intern(fmt::format("k{:016x}", trace::hash_mix(1, name.value)));
    }
    name = known->second;
  }
}

struct FoundStages {
  trace::Trace trace;
  Stages stages;
  Diagnostics diagnostics;

  [[nodiscard]] size_t steps(StepKind kind) const {
    return static_cast<size_t>(std::count_if(stages.steps.begin(), stages.steps.end(),
                                             [&](const Step& step) { return step.kind == kind; }));
  }
  [[nodiscard]] bool all_of_layers(uint32_t layers) const {
    return std::all_of(stages.steps.begin(), stages.steps.end(),
                       [&](const Step& step) { return step.layers == layers; });
  }
  // In milliseconds.
  [[nodiscard]] std::vector<double> walls(StepKind kind) const {
    std::vector<double> found;
    for (const Step& step : stages.steps) {
      if (step.kind == kind) found.push_back(static_cast<double>(step.wall()) / 1e6);
    }
    return found;
  }
};

FoundStages find_in(const std::filesystem::path& path, Names named) {
  auto trace = testing::read_capture(path);
  EXPECT_TRUE(trace) << trace.error().message;
  const auto rules = KernelRules::load({});
  EXPECT_TRUE(rules);
  FoundStages found{std::move(*trace), {}, {}};
  if (named == Names::replaced) replace_names(found.trace);
  const DescribedNames names(found.trace, *rules);
  found.stages = detected_stages(found.trace, names, found.diagnostics);
  return found;
}

double sum_from(const std::vector<double>& values, size_t from) {
  double sum = 0;
  for (size_t i = from; i < values.size(); ++i) sum += values[i];
  return sum;
}

class SharedCapturesStructureTest : public ::testing::TestWithParam<Names> {};
INSTANTIATE_TEST_SUITE_P(Captures, SharedCapturesStructureTest,
                         ::testing::Values(Names::as_recorded, Names::replaced),
                         [](const auto& tested) {
                           return tested.param == Names::as_recorded ? "AsRecorded" : "Renamed";
                         });

// By the engine's clock: 9.606 ms per prefill, 97.883 ms for 64 tokens, after one warm-up prefill
// and token.
TEST_P(SharedCapturesStructureTest, LlamaBench) {
  LLMPROF_NEEDS_SHARED_CAPTURES(captures);
  const FoundStages found =
      find_in(captures / "engines" / "llama_cpp_bench_f16.llmtrace.gz", GetParam());
  EXPECT_EQ(found.steps(StepKind::prefill), 6U) << found.stages.reason;
  EXPECT_EQ(found.steps(StepKind::decode), 321U);
  EXPECT_TRUE(found.all_of_layers(16));
  EXPECT_FALSE(found.stages.serving);
  const double per_prefill = sum_from(found.walls(StepKind::prefill), 1) / 5;
  EXPECT_NEAR(per_prefill, 9.606, 0.01 * 9.606);
  const double per_request = sum_from(found.walls(StepKind::decode), 1) / 320 * 64;
  EXPECT_NEAR(per_request, 97.883, 0.01 * 97.883);
}

// 8 requests one after the other, 7 of which are in the log, then 64 at concurrency 8; 48 new
// tokens each, the first one from the prefill. A pass may take several prompts.
TEST_P(SharedCapturesStructureTest, LlamaServer) {
  LLMPROF_NEEDS_SHARED_CAPTURES(captures);
  const FoundStages found =
      find_in(captures / "engines" / "llama_cpp_server.llmtrace.gz", GetParam());
  ASSERT_EQ(found.stages.steps.size(), 1680U) << found.stages.reason;
  EXPECT_TRUE(found.all_of_layers(16));
  std::vector<double> decode;
  for (size_t request = 0; request < 7; ++request) {
    for (size_t i = 0; i < 48; ++i) {
      const Step& step = found.stages.steps[48 * request + i];
      EXPECT_EQ(step.kind, i == 0 ? StepKind::prefill : StepKind::decode)
          << request << ", step " << i;
      if (i > 0) decode.push_back(static_cast<double>(step.wall()) / 1e6);
    }
  }
  // By the server's own clock: 1.650 ms per token in the first window. Without names it is not
  // recognized as an engine, and its time between a prefill and the first step belongs to no stage.
  const double tolerance = GetParam() == Names::as_recorded ? 0.01 : 0.02;
  EXPECT_NEAR(sum_from(decode, 0) / static_cast<double>(decode.size()), 1.650, tolerance * 1.650);
}

// Prompts cycle through 256, 320, 384, 448 and 512 tokens. The server splits a batch of prompts
// into passes of at most 512 tokens and equally many per sequence; the host reads one row of logits
// per generated token.
TEST(SharedCapturesServerTest, TokensAndSequences) {
  LLMPROF_NEEDS_SHARED_CAPTURES(captures);
  const FoundStages found =
      find_in(captures / "engines" / "llama_cpp_server.llmtrace.gz", Names::as_recorded);
  ASSERT_EQ(found.stages.steps.size(), 1680U);
  constexpr size_t kFirstWindow = 7 * 48;
  std::array<uint64_t, 2> tokens{};
  std::array<uint64_t, 2> rows{};
  for (size_t i = 0; i < found.stages.steps.size(); ++i) {
    const Step& step = found.stages.steps[i];
    tokens[i < kFirstWindow ? 0 : 1] += step.tokens.value_or(0);
    rows[i < kFirstWindow ? 0 : 1] += step.batch.value_or(0);
    if (step.kind == StepKind::decode) {
      EXPECT_EQ(step.tokens, step.batch) << i;
    } else if (step.kind == StepKind::mixed) {
      EXPECT_GT(*step.tokens, *step.batch) << i;
    }
  }
  EXPECT_EQ(rows[0], 7U * 48);
  EXPECT_EQ(rows[1], 64U * 48);
  // All prompt tokens, and one for each new token but the last.
  EXPECT_EQ(tokens[0], 2 * (256U + 320) + 384 + 448 + 512 + 7 * 47);
  EXPECT_EQ(tokens[1], 13U * (256 + 320 + 384 + 448) + 12 * 512 + 64 * 47);
  // One prefill per request in the first window; in the second, 70 prompt passes, 6 of which
  // complete no prompt, and 34 that start prompts next to sequences in decode.
  EXPECT_EQ(found.steps(StepKind::prefill), 7U + 70);
  EXPECT_EQ(found.steps(StepKind::mixed), 34U);
}

TEST_P(SharedCapturesStructureTest, GptFastCompiled) {
  LLMPROF_NEEDS_SHARED_CAPTURES(captures);
  const FoundStages found =
      find_in(captures / "engines" / "gpt_fast_compiled.llmtrace.gz", GetParam());
  ASSERT_EQ(found.stages.steps.size(), 5U * 64) << found.stages.reason;
  EXPECT_TRUE(found.all_of_layers(16));
  for (size_t i = 0; i < found.stages.steps.size(); ++i) {
    EXPECT_EQ(found.stages.steps[i].kind, i % 64 == 0 ? StepKind::prefill : StepKind::decode) << i;
  }
}

// With unknown names: as many passes as with names, or none and the reason.
TEST(RenamedCapturesTest, OwnCaptures) {
  const auto captures = testing::h200_captures();
  for (const std::string_view name :
       {"h200-dense-graph/nsys_node.sqlite", "h200-dense-graph/nsys_graph.sqlite",
        "h200-dense-graph/kineto_graph.json.gz", "h200-llama-eager/nsys.sqlite",
        "h200-hf/deepseek_ocr2.sqlite", "h200-hf/hf_continuous_batching.sqlite"}) {
    const FoundStages recorded = find_in(captures / name, Names::as_recorded);
    const FoundStages renamed = find_in(captures / name, Names::replaced);
    ASSERT_EQ(renamed.stages.steps.size(), recorded.stages.steps.size())
        << name << ": " << renamed.stages.reason;
    for (size_t i = 0; i < renamed.stages.steps.size(); ++i) {
      EXPECT_EQ(renamed.stages.steps[i].kind, recorded.stages.steps[i].kind) << name << " " << i;
    }
    EXPECT_GE(*renamed.stages.confidence, *recorded.stages.confidence) << name;
  }
}

TEST(RenamedCapturesTest, FixturesAreFoundOrRefused) {
  for (const std::string_view name :
       {"h200-decoder/nsys.sqlite", "h200-decoder/nsys_graph_level.sqlite",
        "h200-decoder/kineto.json.gz", "h200-serving/nsys.sqlite"}) {
    const FoundStages recorded = find_in(testing::test_data(name), Names::as_recorded);
    const FoundStages renamed = find_in(testing::test_data(name), Names::replaced);
    if (renamed.stages.stages.empty()) {
      EXPECT_FALSE(renamed.stages.reason.empty()) << name;
      continue;
    }
    EXPECT_EQ(renamed.stages.steps.size(), recorded.stages.steps.size()) << name;
  }
}

// A mixture of experts, and a model without attention whose layers are loops over tokens.
TEST(StructureCapturesTest, ModelsOfOtherKinds) {
  struct Truth {
    std::string_view log;
    uint32_t layers;
    size_t steps;  // of each of four requests, including the prefill
  };
  for (const Truth& truth : {Truth{"h200-models/hf_mixtral.llmtrace.gz", 6, 12},
                             Truth{"h200-models/hf_mamba.llmtrace.gz", 8, 8}}) {
    for (const Names named : {Names::as_recorded, Names::replaced}) {
      const FoundStages found = find_in(testing::test_data(truth.log), named);
      // Without names, detection may refuse.
      if (named == Names::replaced && found.stages.stages.empty()) {
        EXPECT_FALSE(found.stages.reason.empty()) << truth.log;
        continue;
      }
      ASSERT_EQ(found.stages.steps.size(), 4 * truth.steps)
          << truth.log << ": " << found.stages.reason;
      EXPECT_TRUE(found.all_of_layers(truth.layers)) << truth.log;
      for (size_t i = 0; i < found.stages.steps.size(); ++i) {
        EXPECT_EQ(found.stages.steps[i].kind,
                  i % truth.steps == 0 ? StepKind::prefill : StepKind::decode)
            << truth.log << ", step " << i;
      }
    }
  }
}

// Third-party programs, most of them training or not an LLM: no stages under any names.
TEST(SharedCapturesRenamedTest, OtherProgramsAreRefused) {
  LLMPROF_NEEDS_SHARED_CAPTURES(captures);
  size_t seen = 0;
  for (const auto& entry : std::filesystem::directory_iterator(captures / "public")) {
    const std::string name = entry.path().filename().string();
    if (!name.ends_with(".sqlite") && !name.ends_with(".json.gz")) continue;
    const FoundStages found = find_in(entry.path(), Names::replaced);
    EXPECT_TRUE(found.stages.stages.empty()) << name << ": " << found.stages.reason;
    EXPECT_FALSE(found.stages.reason.empty()) << name;
    ++seen;
  }
  EXPECT_GE(seen, 10U);
}

}  // namespace
}  // namespace llmprof::analysis
