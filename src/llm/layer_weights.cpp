#include "llm/layer_weights.h"

#include <algorithm>

namespace llmprof::llm {
namespace {

// The sizes are 32-bit numbers; products of two or three would overflow.
double wide(uint32_t value) { return value; }

Weights feed_forward(const ModelSpec& model, double size, bool bias) {
  const double inputs = model.gated ? 2 : 1;
  Weights weights;
  weights.matrices = (inputs + 1) * model.hidden * size;
  if (bias) weights.others = inputs * size + model.hidden;
  return weights;
}

void add_latent_attention(const ModelSpec& model, double heads, LayerWeights& layer) {
  const LatentAttention& latent = *model.latent;
  const double key = wide(latent.nope_dim) + latent.rope_dim;
  layer.latent_expansion =
      wide(latent.kv_rank) * heads * (wide(latent.nope_dim) + latent.value_dim);
  layer.attention.matrices =
      (latent.q_rank > 0 ? wide(model.hidden) * latent.q_rank + latent.q_rank * heads * key
                         : model.hidden * heads * key) +
      wide(model.hidden) * (wide(latent.kv_rank) + latent.rope_dim) + layer.latent_expansion +
      heads * latent.value_dim * model.hidden;
  layer.attention_norms = wide(latent.q_rank) + latent.kv_rank;
}

void add_attention(const ModelSpec& model, double heads, double kv_heads, LayerWeights& layer) {
  const double width = heads * model.head_dim;
  const double kv_width = kv_heads * model.head_dim;
  const double queries = model.attention_gate ? 2 * width : width;
  layer.attention.matrices = model.hidden * (queries + width) + 2 * model.hidden * kv_width;
  if (model.attention_bias) layer.attention.others += width + 2 * kv_width;
  if (model.query_key_norm) layer.attention_norms = 2 * wide(model.head_dim);
}

// Queries, keys and values together, which a short convolution mixes over tokens.
double convolved_width(const LinearAttention& linear, double tp) {
  return (2 * wide(linear.key_heads) * linear.key_dim +
          wide(linear.value_heads) * linear.value_dim) /
         tp;
}

void add_linear_attention(const ModelSpec& model, double tp, LayerWeights& layer) {
  const LinearAttention& linear = *model.linear;
  const double heads = linear.value_heads / tp;
  const double values = heads * linear.value_dim;
  const double convolved = convolved_width(linear, tp);
  // Queries, keys, values, gate; decay and learning rate per head; the output.
  layer.linear.matrices = model.hidden * (convolved + values + 2 * heads + values);
  layer.linear.others = convolved * linear.convolution + 2 * heads;
  layer.linear_norms = linear.value_dim;
}

double embedding_weights(const ModelSpec& model) {
  return static_cast<double>(model.vocabulary) * model.hidden;
}

double final_norm(const ModelSpec& model) { return model.hidden * (model.norm_bias ? 2.0 : 1.0); }

double head_bias(const ModelSpec& model) { return model.head_bias ? model.vocabulary : 0.0; }

double vision_parameters(const ModelSpec& model) {
  double sum = 0;
  for (const VisionTower& tower : model.vision) sum += static_cast<double>(tower.parameters);
  return sum;
}

// The value of one weight: its bytes, or 1.
struct PerWeight {
  double matrix = 1;
  double expert = 1;
  double other = 1;
};

// All layers, with `experts` routed experts in each mixture.
double sum_of_layers(const ModelSpec& model, double experts, const PerWeight& per) {
  const LayerWeights layer = layer_weights(model, 1);
  const auto sum = [&](const Weights& weights, double of_matrix) {
    return weights.matrices * of_matrix + weights.others * per.other;
  };
  const double attention =
      sum(layer.attention, per.matrix) + (layer.attention_norms + layer.norms) * per.other;
  const double linear =
      sum(layer.linear, per.matrix) + (layer.linear_norms + layer.norms) * per.other;
  const double dense = sum(layer.dense, per.matrix);
  const double mixture = sum(layer.router, per.other) + sum(layer.shared_experts, per.matrix) +
                         experts * sum(layer.expert, per.expert);
  double all = 0;
  for (const LayerGroup& group : group_layers(model)) {
    const bool is_dense = group.layer.feed_forward == FeedForwardKind::dense;
    const bool is_linear = group.layer.attention == AttentionKind::linear;
    all += group.count * ((is_linear ? linear : attention) + (is_dense ? dense : mixture));
  }
  return all;
}

}  // namespace

double kv_heads_on_gpu(const ModelSpec& model, double tp) {
  return std::max(model.kv_heads / tp, 1.0);
}

double layers_with_cache(const ModelSpec& model) {
  return static_cast<double>(std::ranges::count_if(model.layers, [](const LayerSpec& layer) {
    return layer.attention != AttentionKind::linear;
  }));
}

LinearState linear_state(const ModelSpec& model, double tp) {
  if (!model.linear) return {};
  const LinearAttention& linear = *model.linear;
  return {wide(linear.value_heads) * linear.key_dim * linear.value_dim / tp,
          convolved_width(linear, tp) * linear.convolution};
}

double cached_values(const ModelSpec& model, double tp) {
  // All heads share the latent, so every GPU holds all of it.
  if (model.latent) return wide(model.latent->kv_rank) + model.latent->rope_dim;
  return 2 * kv_heads_on_gpu(model, tp) * model.head_dim;
}

LayerWeights layer_weights(const ModelSpec& model, double tp) {
  LayerWeights layer;
  const double heads = model.heads / tp;
  layer.norms = wide(model.norms_per_layer) * model.hidden * (model.norm_bias ? 2 : 1);
  if (model.latent) {
    add_latent_attention(model, heads, layer);
  } else {
    add_attention(model, heads, kv_heads_on_gpu(model, tp), layer);
  }
  if (model.linear) add_linear_attention(model, tp, layer);
  if (model.output_bias) layer.attention.others += model.hidden;
  if (model.attention_sinks) layer.attention.others += heads;
  layer.dense = feed_forward(model, model.intermediate / tp, model.feed_forward_bias);
  if (model.mixture) {
    const MixtureOfExperts& mixture = *model.mixture;
    layer.router.matrices = wide(mixture.experts) * model.hidden;
    if (mixture.router_bias) layer.router.others = mixture.experts;
    layer.expert = feed_forward(model, mixture.expert_size, mixture.expert_bias);
    layer.shared_experts = feed_forward(model, mixture.shared_expert_size / tp, false);
    if (mixture.shared_expert_gate) layer.shared_experts.others = model.hidden;
  }
  return layer;
}

std::vector<LayerGroup> group_layers(const ModelSpec& model) {
  std::vector<LayerGroup> groups;
  for (const LayerSpec& layer : model.layers) {
    const auto same = std::ranges::find(groups, layer, &LayerGroup::layer);
    if (same == groups.end()) {
      groups.push_back({layer, 1});
    } else {
      ++same->count;
    }
  }
  return groups;
}

uint64_t parameter_count(const ModelSpec& model) {
  const double embeddings = embedding_weights(model) * (model.tied_embeddings ? 1 : 2);
  const double experts = model.mixture ? model.mixture->experts : 0;
  return whole_count(embeddings + head_bias(model) + final_norm(model) +
                     sum_of_layers(model, experts, {}) + vision_parameters(model));
}

uint64_t active_parameter_count(const ModelSpec& model) {
  const double experts = model.mixture ? model.mixture->experts_per_token : 0;
  return whole_count(embedding_weights(model) + head_bias(model) + final_norm(model) +
                     sum_of_layers(model, experts, {}));
}

double weight_bytes(const ModelSpec& model) {
  const double matrix = model.weights.bytes;
  const double other = model.dtype.bytes;
  const double head = model.tied_embeddings ? 0 : model.quantized_head ? matrix : other;
  const double experts = model.mixture ? model.mixture->experts : 0;
  return (final_norm(model) + head_bias(model) + vision_parameters(model)) * other +
         embedding_weights(model) * (other + head) +
         sum_of_layers(model, experts,
                       {matrix, model.experts ? model.experts->bytes : matrix, other});
}

double kv_bytes_per_token(const ModelSpec& model) {
  return cached_values(model, 1) * model.kv_cache.bytes * layers_with_cache(model);
}

double kv_bytes_per_sequence(const ModelSpec& model, uint64_t context) {
  const double per_token = cached_values(model, 1) * model.kv_cache.bytes;
  const LinearState state = linear_state(model, 1);
  double bytes = 0;
  for (const LayerSpec& layer : model.layers) {
    if (layer.attention == AttentionKind::linear) {
      bytes += state.recurrent * sizeof(float) + state.convolution * model.dtype.bytes;
    } else {
      const uint64_t tokens =
          layer.window == 0 ? context : std::min<uint64_t>(layer.window, context);
      bytes += per_token * static_cast<double>(tokens);
    }
  }
  return bytes;
}

}  // namespace llmprof::llm
