#include "llm/model_family.h"

#include <algorithm>
#include <array>
#include <vector>

namespace llmprof::llm {
namespace {

ModelFamily plain(std::string_view type) {
  ModelFamily family;
  family.type = type;
  return family;
}

ModelFamily llama() {
  ModelFamily family = plain("llama");
  family.output_bias = true;
  return family;
}

ModelFamily mixtral() {
  ModelFamily family = plain("mixtral");
  family.mixture = MixtureRule::every_layer;
  return family;
}

ModelFamily qwen2(std::string_view type) {
  ModelFamily family = plain(type);
  family.qkv_bias = true;
  family.window = WindowRule::later;
  return family;
}

ModelFamily qwen2_moe() {
  ModelFamily family = qwen2("qwen2_moe");
  family.mixture = MixtureRule::sparse_step;
  family.shared_expert_gate = true;
  return family;
}

ModelFamily qwen3(std::string_view type) {
  ModelFamily family = plain(type);
  family.output_bias = true;
  family.query_key_norm = true;
  family.window = WindowRule::later;
  family.head_dim = 128;
  return family;
}

ModelFamily qwen3_moe(std::string_view type) {
  ModelFamily family = qwen3(type);
  family.mixture = MixtureRule::sparse_step;
  return family;
}

ModelFamily gemma() {
  ModelFamily family = plain("gemma");
  family.output_bias = true;
  family.tied_embeddings = true;
  family.head_dim = 256;
  return family;
}

ModelFamily gemma2() {
  ModelFamily family = gemma();
  family.type = "gemma2";
  family.norms_per_layer = 4;
  family.window = WindowRule::alternating;
  return family;
}

ModelFamily gemma3_text() {
  ModelFamily family = gemma2();
  family.type = "gemma3_text";
  family.query_key_norm = true;
  family.window = WindowRule::pattern;
  family.window_pattern = 6;
  family.heads = 8;
  family.kv_heads = 4;
  family.vocabulary = 262208;
  return family;
}

// Phi-1 to Phi-2: attention and feed-forward side by side after one norm.
ModelFamily phi() {
  ModelFamily family = plain("phi");
  family.gated = false;
  family.qkv_bias = true;
  family.output_bias = true;
  family.feed_forward_bias = true;
  family.head_bias = true;
  family.norms_per_layer = 1;
  family.norm_bias = true;
  return family;
}

ModelFamily deepseek(std::string_view type) {
  ModelFamily family = plain(type);
  family.output_bias = true;
  family.mixture = MixtureRule::after_dense;
  family.router_bias = type != "deepseek_v2";
  return family;
}

ModelFamily gpt_oss() {
  ModelFamily family = plain("gpt_oss");
  family.qkv_bias = true;
  family.output_bias = true;
  family.attention_sinks = true;
  family.window = WindowRule::alternating;
  family.mixture = MixtureRule::every_layer;
  family.router_bias = true;
  family.expert_bias = true;
  family.head_dim = 64;
  return family;
}

const std::vector<ModelFamily>& families() {
  static const std::vector<ModelFamily> all = {
      llama(),
      plain("mistral"),
      plain("ministral"),
      mixtral(),
      qwen2("qwen2"),
      qwen2("qwen2_vl"),
      qwen2("qwen2_vl_text"),
      qwen2("qwen2_5_vl"),
      qwen2("qwen2_5_vl_text"),
      qwen2_moe(),
      qwen3("qwen3"),
      qwen3("qwen3_vl_text"),
      qwen3_moe("qwen3_moe"),
      qwen3_moe("qwen3_vl_moe_text"),
      gemma(),
      gemma2(),
      gemma3_text(),
      phi(),
      plain("phi3"),
      deepseek("deepseek_v2"),
      deepseek("deepseek_v3"),
      deepseek("kimi_k2"),
      gpt_oss(),
  };
  return all;
}

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
  const auto found =
      std::find_if(families().begin(), families().end(),
                   [&](const ModelFamily& family) { return family.type == model_type; });
  if (found == families().end()) return std::nullopt;
  return *found;
}

std::string_view model_type_of_architecture(std::string_view architecture) {
  for (const ArchitectureType& known : kArchitectures) {
    if (known.architecture == architecture) return known.type;
  }
  return {};
}

std::span<const std::string_view> model_types() {
  static const std::vector<std::string_view> types = [] {
    std::vector<std::string_view> all;
    for (const ModelFamily& family : families()) all.push_back(family.type);
    return all;
  }();
  return types;
}

}  // namespace llmprof::llm
