#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace llmprof::llm {

// Which layers see a window only, where the file does not list them.
enum class WindowRule : uint8_t {
  all,          // every layer, wherever a window is given
  later,        // those from max_window_layers on, where use_sliding_window is set (Qwen)
  alternating,  // the first, the third, ... (Gemma 2, gpt-oss)
  pattern,      // all but every sliding_window_pattern-th (Gemma 3)
};

// Which keys describe the experts, and where these are.
enum class MixtureRule : uint8_t {
  none,
  every_layer,  // num_local_experts of intermediate_size (Mixtral, gpt-oss)
  sparse_step,  // num_experts, decoder_sparse_step, mlp_only_layers (Qwen)
  after_dense,  // n_routed_experts, first_k_dense_replace, moe_layer_freq (DeepSeek)
};

// What a model_type fixes and its configuration files leave unsaid: biases, norms, defaults.
struct ModelFamily {
  std::string_view type;
  bool gated = true;
  bool qkv_bias = false;     // where the file has no attention_bias
  bool output_bias = false;  // o follows attention_bias
  bool feed_forward_bias = false;
  bool head_bias = false;
  bool query_key_norm = false;
  bool attention_sinks = false;
  uint32_t norms_per_layer = 2;
  bool norm_bias = false;
  bool tied_embeddings = false;  // where the file does not say
  WindowRule window = WindowRule::all;
  uint32_t window_pattern = 0;  // for WindowRule::pattern
  MixtureRule mixture = MixtureRule::none;
  bool router_bias = false;
  bool expert_bias = false;
  bool shared_expert_gate = false;
  // For files that leave out what equals the class's default; 0: the file must state it.
  uint32_t head_dim = 0;
  uint32_t heads = 0;
  uint32_t kv_heads = 0;
  uint32_t vocabulary = 0;
};

// By model_type, or, where a part of a larger configuration has none, by its architecture.
std::optional<ModelFamily> find_model_family(std::string_view model_type);
std::string_view model_type_of_architecture(std::string_view architecture);
std::span<const std::string_view> model_types();

}  // namespace llmprof::llm
