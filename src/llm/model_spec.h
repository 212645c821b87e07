#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "config/conf_files.h"

namespace llmprof::llm {

// How a set of weights, or the KV cache, is stored.
struct NumberFormat {
  std::string name = "bf16";  // "bf16", "f16", "f32", "fp8", "int8", "int4", "mxfp4", ...
  double bytes = 2;           // per value, including its share of the scales
};

// Linear attention keeps a state of fixed size per sequence instead of a cache that grows.
enum class AttentionKind : uint8_t { full, sliding, chunked, linear };
enum class FeedForwardKind : uint8_t { dense, mixture };

// One decoder layer.
struct LayerSpec {
  AttentionKind attention = AttentionKind::full;
  uint32_t window = 0;  // tokens that a query sees at most; 0: all previous ones
  FeedForwardKind feed_forward = FeedForwardKind::dense;

  friend bool operator==(const LayerSpec&, const LayerSpec&) = default;
};

// Multi-head latent attention (DeepSeek V2 and V3).
struct LatentAttention {
  uint32_t q_rank = 0;  // 0: queries are not compressed
  uint32_t kv_rank = 0;
  uint32_t nope_dim = 0;
  uint32_t rope_dim = 0;
  uint32_t value_dim = 0;
};

// Layers of linear attention (gated delta rule, as in Qwen3-Next).
struct LinearAttention {
  uint32_t key_heads = 0;
  uint32_t value_heads = 0;
  uint32_t key_dim = 0;
  uint32_t value_dim = 0;
  uint32_t convolution = 0;  // tokens that its short convolution sees
};

struct MixtureOfExperts {
  uint32_t experts = 0;
  uint32_t experts_per_token = 0;
  uint32_t shared_experts = 0;
  uint32_t expert_size = 0;         // intermediate size of a routed expert
  uint32_t shared_expert_size = 0;  // of all shared experts together
  bool router_bias = false;
  bool expert_bias = false;
  bool shared_expert_gate = false;  // one weight per hidden value, which scales the shared experts
};

// A stack of transformer layers that processes an image before the text (OCR and VL models).
struct VisionTower {
  std::string name;
  uint64_t parameters = 0;
  uint64_t flops_per_image = 0;  // 0: the configuration does not state the image size
};

// A decoder-only language model: everything that its cost depends on.
struct ModelSpec {
  std::string name;     // "Qwen/Qwen2-7B", or the file's name
  std::string variant;  // model_type: "qwen2"
  std::string source;   // the file or preset it was read from
  uint32_t hidden = 0;
  uint32_t intermediate = 0;  // of a dense layer
  bool gated = true;          // gate and up projections, or only up
  uint32_t heads = 0;
  uint32_t kv_heads = 0;
  uint32_t head_dim = 0;
  uint32_t vocabulary = 0;
  bool tied_embeddings = false;
  bool attention_bias = false;  // on q, k and v
  bool output_bias = false;     // on o
  bool feed_forward_bias = false;
  bool head_bias = false;
  bool query_key_norm = false;
  bool attention_sinks = false;  // one learned logit per head
  bool attention_gate = false;   // the query projection also makes a gate for the output
  uint32_t norms_per_layer = 2;
  bool norm_bias = false;
  std::optional<LatentAttention> latent;
  std::optional<LinearAttention> linear;  // of layers whose attention is linear
  std::optional<MixtureOfExperts> mixture;
  std::vector<LayerSpec> layers;
  std::vector<VisionTower> vision;
  NumberFormat dtype;                   // of unquantized weights: embeddings, norms
  NumberFormat weights;                 // of the linear layers
  std::optional<NumberFormat> experts;  // of routed experts if different
  bool quantized_head = false;          // the head is stored like the other linear layers
  NumberFormat kv_cache;
  uint32_t longest_context = 0;  // max_position_embeddings; 0: not stated

  // Notes for the user on what this specification does not understand in the file.
  std::vector<std::string> notes;
};

// `what` is a Hugging Face config.json, a folder with one, or a preset ("qwen2_7b",
// "llm/qwen2_7b"). An unknown architecture is an error that names the nearest preset.
Result<ModelSpec> load_model_spec(std::string_view what, const config::ConfFiles& conf);
Result<ModelSpec> parse_hugging_face_config(std::string_view json, std::string name);

}  // namespace llmprof::llm
