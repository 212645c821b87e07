#include "llm/model_family.h"

#include <array>

namespace llmprof::llm {
namespace {

constexpr ModelFamily plain(std::string_view type) { return {.type = type}; }

constexpr ModelFamily qwen2(std::string_view type) {
  return {.type = type, .qkv_bias = true, .window = WindowRule::later};
}

constexpr ModelFamily qwen3(std::string_view type, MixtureRule mixture = MixtureRule::none) {
  return {.type = type,
          .output_bias = true,
          .query_key_norm = true,
          .window = WindowRule::later,
          .mixture = mixture,
          .head_dim = 128};
}

constexpr ModelFamily deepseek(std::string_view type, bool router_bias = true) {
  return {.type = type,
          .output_bias = true,
          .mixture = MixtureRule::after_dense,
          .router_bias = router_bias};
}

constexpr std::array kFamilies = {
    ModelFamily{.type = "llama", .output_bias = true},
    plain("mistral"),
    plain("ministral"),
    ModelFamily{.type = "mixtral", .mixture = MixtureRule::every_layer},
    qwen2("qwen2"),
    qwen2("qwen2_vl"),
    qwen2("qwen2_vl_text"),
    qwen2("qwen2_5_vl"),
    qwen2("qwen2_5_vl_text"),
    ModelFamily{.type = "qwen2_moe",
                .qkv_bias = true,
                .window = WindowRule::later,
                .mixture = MixtureRule::sparse_step,
                .shared_expert_gate = true},
    qwen3("qwen3"),
    qwen3("qwen3_vl_text"),
    qwen3("qwen3_moe", MixtureRule::sparse_step),
    qwen3("qwen3_vl_moe_text", MixtureRule::sparse_step),
    ModelFamily{.type = "gemma", .output_bias = true, .tied_embeddings = true, .head_dim = 256},
    ModelFamily{.type = "gemma2",
                .output_bias = true,
                .norms_per_layer = 4,
                .tied_embeddings = true,
                .window = WindowRule::alternating,
                .head_dim = 256},
    ModelFamily{.type = "gemma3_text",
                .output_bias = true,
                .query_key_norm = true,
                .norms_per_layer = 4,
                .tied_embeddings = true,
                .window = WindowRule::pattern,
                .window_pattern = 6,
                .head_dim = 256,
                .heads = 8,
                .kv_heads = 4,
                .vocabulary = 262208},
    // Phi-1 to Phi-2: attention and feed-forward side by side after one norm.
    ModelFamily{.type = "phi",
                .gated = false,
                .qkv_bias = true,
                .output_bias = true,
                .feed_forward_bias = true,
                .head_bias = true,
                .norms_per_layer = 1,
                .norm_bias = true},
    plain("phi3"),
    deepseek("deepseek_v2", false),
    deepseek("deepseek_v3"),
    deepseek("kimi_k2"),
    ModelFamily{.type = "gpt_oss",
                .qkv_bias = true,
                .output_bias = true,
                .attention_sinks = true,
                .window = WindowRule::alternating,
                .mixture = MixtureRule::every_layer,
                .router_bias = true,
                .expert_bias = true,
                .head_dim = 64},
};

struct ArchitectureType {
  std::string_view architecture;
  std::string_view type;
};

// Language parts inside larger configurations often name their class and no model_type.
constexpr std::array kArchitectures = {
    ArchitectureType{"LlamaForCausalLM", "llama"},
    ArchitectureType{"MistralForCausalLM", "mistral"},
    ArchitectureType{"MixtralForCausalLM", "mixtral"},
    ArchitectureType{"Qwen2ForCausalLM", "qwen2"},
    ArchitectureType{"Qwen2MoeForCausalLM", "qwen2_moe"},
    ArchitectureType{"Qwen3ForCausalLM", "qwen3"},
    ArchitectureType{"Qwen3MoeForCausalLM", "qwen3_moe"},
    ArchitectureType{"GemmaForCausalLM", "gemma"},
    ArchitectureType{"Gemma2ForCausalLM", "gemma2"},
    ArchitectureType{"Gemma3ForCausalLM", "gemma3_text"},
    ArchitectureType{"PhiForCausalLM", "phi"},
    ArchitectureType{"Phi3ForCausalLM", "phi3"},
    ArchitectureType{"DeepseekV2ForCausalLM", "deepseek_v2"},
    ArchitectureType{"DeepseekOCRForCausalLM", "deepseek_v2"},
    ArchitectureType{"DeepseekV3ForCausalLM", "deepseek_v3"},
    ArchitectureType{"GptOssForCausalLM", "gpt_oss"},
};

// The language parts of these have no type of their own, or the whole has the part's form.
constexpr std::array kOtherNames = {
    ArchitectureType{"deepseek_ocr_text", "deepseek_v2"},
    ArchitectureType{"deepseek_ocr2_text", "deepseek_v2"},
    ArchitectureType{"gemma3", "gemma3_text"},
};

}  // namespace

std::optional<ModelFamily> find_model_family(std::string_view model_type) {
  for (const ArchitectureType& other : kOtherNames) {
    if (other.architecture == model_type) model_type = other.type;
  }
  for (const ModelFamily& family : kFamilies) {
    if (family.type == model_type) return family;
  }
  return std::nullopt;
}

std::string_view model_type_of_architecture(std::string_view architecture) {
  for (const ArchitectureType& known : kArchitectures) {
    if (known.architecture == architecture) return known.type;
  }
  return {};
}

std::span<const std::string_view> model_types() {
  static constexpr auto kTypes = [] {
    std::array<std::string_view, kFamilies.size()> types;
    for (size_t i = 0; i < types.size(); ++i) types[i] = kFamilies[i].type;
    return types;
  }();
  return kTypes;
}

}  // namespace llmprof::llm
