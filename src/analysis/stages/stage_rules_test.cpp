#include "analysis/stages/stage_rules.h"

#include <gtest/gtest.h>

#include "testing/temporary_folder.h"

namespace llmprof::analysis {
namespace {

using Kind = RangeMeaning::Kind;

StageRules shipped_rules() {
  auto conf = config::ConfFiles::open(std::nullopt);
  EXPECT_TRUE(conf);
  auto rules = StageRules::load(*conf);
  EXPECT_TRUE(rules) << rules.error().message;
  return *rules;
}

Result<StageRules> with_own(const testing::TemporaryFolder& folder, std::string_view text) {
  folder.write("stages.yaml", text);
  auto conf = config::ConfFiles::open(folder.path());
  EXPECT_TRUE(conf);
  return StageRules::load(*conf);
}

TEST(StageRules, KnowsStagesAndSteps) {
  const StageRules rules = shipped_rules();
  for (const char* label : {"prefill", "Prefill", "prefill_3", "prefill (777 tokens)", "context",
                            "prompt_processing", "LLM@prefill", "prefill@LLM"}) {
    EXPECT_EQ(rules.meaning("", label).kind, Kind::stage) << label;
    EXPECT_EQ(rules.meaning("", label).name, "prefill") << label;
  }
  for (const char* label :
       {"decode", "decode_all", "generation", "decode_loop", "LLM@decode_all"}) {
    EXPECT_EQ(rules.meaning("", label).kind, Kind::stage) << label;
    EXPECT_EQ(rules.meaning("", label).name, "decode") << label;
  }
  for (const char* label : {"decode_step", "decode step 12", "decode_7", "generate_token"}) {
    EXPECT_EQ(rules.meaning("", label).kind, Kind::step) << label;
    EXPECT_EQ(rules.meaning("", label).step_kind, StepKind::decode) << label;
  }
  EXPECT_EQ(rules.meaning("LLM", "decode_all").kind, Kind::stage);
  EXPECT_EQ(rules.meaning("", "step 3").kind, Kind::step);
  EXPECT_FALSE(rules.meaning("", "step 3").step_kind);
  for (const char* label : {"", "generate", "prefill_attention_kernel", "decoder", "aten::add",
                            "ProfilerStep#5", "Optimizer.step#SGD.step", "nccl:all_reduce"}) {
    EXPECT_EQ(rules.meaning("", label).kind, Kind::none) << label;
  }
}

TEST(StageRules, IgnoresLibraryDomains) {
  const StageRules rules = shipped_rules();
  for (const char* domain : {"CCCL", "NCCL", "nccl_p2p", "cuBLAS", "cuBLASLt", "cuDNN", "cuSPARSE",
                             "TensorRT", "NVSHMEM", "libcudf"}) {
    EXPECT_EQ(rules.meaning(domain, "decode").kind, Kind::ignored) << domain;
  }
  EXPECT_EQ(
      rules.meaning("TensorRT-LLM", "[Executor] _forward_step 1: 0 ctx reqs, 4 gen reqs").kind,
      Kind::engine_step);
  EXPECT_EQ(rules.meaning("my program", "decode").kind, Kind::none);
}

struct EngineLabel {
  const char* label;
  StepKind kind;
  std::optional<uint64_t> batch;
  std::optional<uint64_t> tokens;
};

TEST(StageRules, ReadsEngineSteps) {
  const StageRules rules = shipped_rules();
  using enum StepKind;
  for (const EngineLabel& expected : std::vector<EngineLabel>{
           {"execute_context_1(512)_generation_0(0)", prefill, 1, 512},
           {"execute_context_2(300)_generation_30(30)", mixed, 32, 330},
           {"execute_context_0(0)_generation_64(64)", decode, 64, 64},
           {"execute_32_context_0(sq0sk0sqsq0sqsk0)_generation_32(sq32sk55086sqsq32sqsk55086)",
            decode, 32, 32},
           {"execute_new_3_cached_0", prefill, 3, {}},
           {"execute_new_0_cached_5", decode, 5, 5},
           {"step[DECODE bs=32]", decode, 32, 32},
           {"step[EXTEND bs=15 toks=4096]", prefill, 15, 4096},
           {"step[EXTEND bs=2 toks=12 c_sqsq=80 c_sqsk=120 c_sk=20]", prefill, 2, 12},
           {"step[MIXED bs=2]", mixed, 2, {}},
           {"step[TARGET_VERIFY bs=4 toks=16]", decode, 4, 16},
           {"[Executor] _forward_step 12: 3 ctx reqs, 45 gen reqs", mixed, 48, {}},
           {"[Executor] _forward_step 13: 0 ctx reqs, 45 gen reqs", decode, 45, 45},
           {"[Executor] _forward_step 14: 1 ctx reqs, 900 ctx tokens, 2 gen reqs", mixed, 3, 902},
           {"_forward_step: 1 ctx reqs, 0 gen reqs", prefill, 1, {}},
           {"executeStep: 0 ctx reqs, 8 gen reqs", decode, 8, 8},
           {"prefill[bs=2 tok=16384]", prefill, 2, 16384},
           {"decode[bs=64]", decode, 64, 64},
       }) {
    const RangeMeaning meaning = rules.meaning("", expected.label);
    EXPECT_EQ(meaning.kind, Kind::engine_step) << expected.label;
    EXPECT_EQ(meaning.step_kind, expected.kind) << expected.label;
    EXPECT_EQ(meaning.name, to_string(expected.kind)) << expected.label;
    EXPECT_EQ(meaning.batch, expected.batch) << expected.label;
    EXPECT_EQ(meaning.tokens, expected.tokens) << expected.label;
  }
  EXPECT_EQ(rules.meaning("", "execute_context_0(0)_generation_0(0)").kind, Kind::none);
  EXPECT_EQ(rules.meaning("", "step[IDLE]").kind, Kind::none);
  // vLLM's scopes show where a step is, but not its kind.
  for (const char* part : {"preprocess", "forward", "sample"}) {
    const RangeMeaning meaning = rules.meaning("", std::string("gpu_model_runner: ") + part);
    EXPECT_EQ(meaning.kind, Kind::pass_part) << part;
    EXPECT_EQ(meaning.name, part);
  }
  for (const char* label : {"schedule: allocate_slots", "llm_engine step: get_output"}) {
    EXPECT_EQ(rules.meaning("", label).kind, Kind::none) << label;
  }
}

TEST(StageRules, ReadsLayersAndParts) {
  const StageRules rules = shipped_rules();
  for (const char* label : {"layer_07", "layer 7", "layers.7", "model.layers.7", "transformer.h.7",
                            "LlamaDecoderLayer_7", "Qwen3DecoderLayer(7)", "decoder_layer_7"}) {
    EXPECT_EQ(rules.meaning("", label).kind, Kind::layer) << label;
    EXPECT_EQ(rules.meaning("", label).name, "layer_07") << label;
  }
  EXPECT_EQ(rules.meaning("", "layer_123").name, "layer_123");
  for (const char* label : {"attn", "self_attn", "mlp", "moe", "norm", "input_layernorm"}) {
    EXPECT_EQ(rules.meaning("", label).kind, Kind::layer_part) << label;
    EXPECT_EQ(rules.meaning("", label).name, label);
  }
  const RangeMeaning deep = rules.meaning("", "model.layers.7.self_attn");
  EXPECT_EQ(deep.kind, Kind::layer_part);
  EXPECT_EQ(deep.name, "layer_07/self_attn");
  EXPECT_EQ(rules.meaning("", "model.layers.7.self_attn.q_proj").kind, Kind::none);
  // vLLM's layerwise NVTX ranges.
  const auto module = [&](std::string_view name) {
    return rules.meaning("", "{'Module': '" + std::string(name) + "', 'Inputs': [[8, 4096]]}");
  };
  EXPECT_EQ(module("model.layers.7").kind, Kind::layer);
  EXPECT_EQ(module("model.layers.7").name, "layer_07");
  EXPECT_EQ(module("model.layers.7.self_attn").name, "layer_07/self_attn");
  EXPECT_EQ(module("model.layers.7.self_attn.qkv_proj").kind, Kind::none);
  EXPECT_EQ(module("visual.blocks.3").kind, Kind::none);
  // Modules of a PyTorch trace.
  EXPECT_EQ(rules.meaning("nn.Module", "Qwen3DecoderLayer_7").name, "layer_07");
  EXPECT_EQ(rules.meaning("nn.Module", "Qwen3Attention_7").kind, Kind::layer_part);
  EXPECT_EQ(rules.meaning("nn.Module", "Qwen3Attention_7").name, "Attention");
  EXPECT_EQ(rules.meaning("", "Qwen3Attention_7").kind, Kind::none);
}

TEST(StageRules, ReadsVision) {
  const StageRules rules = shipped_rules();
  for (const char* label : {"sam", "clip", "vision_tower", "projector", "image_encoder",
                            "model.vision_tower", "multi_modal_projector"}) {
    EXPECT_EQ(rules.meaning("", label).kind, Kind::vision) << label;
  }
  EXPECT_EQ(rules.meaning("", "model.vision_tower").name, "vision_tower");
  EXPECT_EQ(rules.meaning("", "vision_tower.encoder.layers.3").kind, Kind::none);
}

TEST(StageRules, TriesTheUsersRulesFirst) {
  const testing::TemporaryFolder folder;
  const auto rules = with_own(folder,
                              "rules:\n"
                              "  - regex: 'decode'\n"
                              "    means: nothing\n"
                              "  - {regex: 'Denoise \\d+', means: stage, name: denoise}\n"
                              "ignored_domains: ['mine']\n");
  ASSERT_TRUE(rules) << rules.error().message;
  EXPECT_EQ(rules->meaning("", "decode").kind, Kind::none);
  EXPECT_EQ(rules->meaning("", "Denoise 4").name, "denoise");
  EXPECT_EQ(rules->meaning("", "Denoise 4 times").kind, Kind::none);  // the entire label must match
  EXPECT_EQ(rules->meaning("", "prefill").name, "prefill");
  EXPECT_EQ(rules->meaning("mine", "prefill").kind, Kind::ignored);
}

TEST(StageRules, NamesFileAndLineOfAMistake) {
  const testing::TemporaryFolder folder;
  const std::string place = (folder.path() / "stages.yaml").string();
  struct Mistake {
    const char* text;
    const char* line;
    const char* says;
  };
  for (const Mistake& mistake : std::vector<Mistake>{
           {"rules:\n  - regex: 'a('\n    means: step\n", ":2: rule 1: ", "not a valid RE2"},
           {"rules:\n  - regex: 'a'\n    means: stagee\n", ":3: ", "did you mean 'stage'"},
           {"rules:\n  - regex: 'a'\n    means: stage\n", ":2: ", "needs 'name'"},
           {"rules:\n  - means: step\n", ":2: ", "needs 'regex'"},
           {"rules:\n  - regexp: 'a'\n    means: step\n", ":2: ", "did you mean 'regex'"},
           {"rules:\n  - regex: '(?P<layer>a)'\n    means: step\n", ":2: ", "unknown group"},
           {"rules:\n\n  - a\n", ":3: ", "must be a map"},
           {"ignored_domains: NCCL\n", ":1: ", "must be a list"},
           {"rule:\n  - a\n", ":1: ", "did you mean 'rules'"},
           {"rules:\n  - {regex: 'a', means: pass_part, part: begin}\n", ":2: ", "unknown part"},
           {"rules:\n  - {regex: 'a', means: engine_step, values: bs}\n", ":2: ", "must be a map"},
           {"rules:\n  - {regex: 'a', means: engine_step, values: {bs: batches}}\n",
            ":2: ", "did you mean 'batch'"},
           {"rules:\n  - {regex: 'a', means: engine_step, speculative: maybe}\n",
            ":2: ", "must be true or false"},
           {"rules: [\n", ":2: ", "not valid YAML"},
       }) {
    const auto rules = with_own(folder, mistake.text);
    ASSERT_FALSE(rules) << mistake.text;
    EXPECT_EQ(rules.error().kind, ErrorKind::usage);
    EXPECT_TRUE(rules.error().message.starts_with(place + mistake.line)) << rules.error().message;
    EXPECT_NE(rules.error().message.find(mistake.says), std::string::npos) << rules.error().message;
  }
}

}  // namespace
}  // namespace llmprof::analysis
