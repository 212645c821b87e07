#include "llm/weight_tensors.h"

#include <algorithm>
#include <utility>

namespace llmprof::llm {
namespace {

// Adds the tensors of a model in order.
class TensorList {
 public:
  TensorList(const ModelSpec& model, uint32_t tp)
      : model_(model), tp_(std::max(tp, 1U)), hidden_(model.hidden) {}

  std::vector<WeightTensor> list() {
    const uint64_t vocabulary = split(model_.vocabulary);
    add("embedding", TensorPart::embedding, vocabulary * hidden_);
    for (size_t i = 0; i < model_.layers.size(); ++i) {
      layer_ = static_cast<int32_t>(i);
      add_layer(model_.layers[i]);
    }
    layer_ = -1;
    add_norm("norm", hidden_);
    if (!model_.tied_embeddings) add("head", TensorPart::head, vocabulary * hidden_);
    if (model_.head_bias) add("head.bias", TensorPart::norm, vocabulary);
    for (const VisionTower& tower : model_.vision) {
      add(tower.name, TensorPart::vision, tower.parameters);
    }
    return std::move(tensors_);
  }

 private:
  [[nodiscard]] uint64_t split(uint64_t size) const { return (size + tp_ - 1) / tp_; }

  void add(std::string name, TensorPart part, uint64_t elements, uint64_t count = 1) {
    if (elements == 0 || count == 0) return;
    tensors_.push_back({std::move(name), part, layer_, elements, count});
  }
  void add_bias(bool biased, const char* name, uint64_t elements, uint64_t count = 1) {
    if (biased) add(name, TensorPart::norm, elements, count);
  }
  void add_norm(const char* name, uint64_t size) {
    add(name, TensorPart::norm, size);
    add_bias(model_.norm_bias, name, size);
  }

  void add_layer(const LayerSpec& layer) {
    if (layer.attention == AttentionKind::linear) {
      add_linear_attention();
    } else if (model_.latent) {
      add_latent_attention();
    } else {
      add_attention();
    }
    if (layer.feed_forward == FeedForwardKind::dense) {
      add_feed_forward(split(model_.intermediate), model_.feed_forward_bias);
    } else {
      add_mixture();
    }
    for (uint32_t i = 0; i < model_.norms_per_layer; ++i) add_norm("layer.norm", hidden_);
  }

  void add_attention() {
    const uint64_t width = split(uint64_t{model_.heads} * model_.head_dim);
    const uint64_t kv_width = std::max<uint64_t>(split(model_.kv_heads), 1) * model_.head_dim;
    const bool biased = model_.attention_bias;
    const uint64_t queries = model_.attention_gate ? 2 * width : width;
    add("attention.query", TensorPart::attention, queries * hidden_);
    add_bias(biased, "attention.query.bias", width);
    add("attention.key", TensorPart::attention, kv_width * hidden_);
    add_bias(biased, "attention.key.bias", kv_width);
    add("attention.value", TensorPart::value, kv_width * hidden_);
    add_bias(biased, "attention.value.bias", kv_width);
    add("attention.output", TensorPart::attention, width * hidden_);
    add_attention_vectors();
    if (!model_.query_key_norm) return;
    add("attention.query.norm", TensorPart::norm, model_.head_dim);
    add("attention.key.norm", TensorPart::norm, model_.head_dim);
  }

  void add_latent_attention() {
    const LatentAttention& latent = *model_.latent;
    const uint64_t heads = split(model_.heads);
    const uint64_t key = uint64_t{latent.nope_dim} + latent.rope_dim;
    const uint64_t into = latent.q_rank > 0 ? latent.q_rank : hidden_;
    add("attention.query.down", TensorPart::attention, latent.q_rank * hidden_);
    add("attention.query.norm", TensorPart::norm, latent.q_rank);
    add("attention.query", TensorPart::attention, heads * key * into);
    add("attention.latent", TensorPart::attention,
        hidden_ * (uint64_t{latent.kv_rank} + latent.rope_dim));
    add("attention.latent.norm", TensorPart::norm, latent.kv_rank);
    add("attention.expansion", TensorPart::value,
        latent.kv_rank * heads * (uint64_t{latent.nope_dim} + latent.value_dim));
    add("attention.output", TensorPart::attention, heads * latent.value_dim * hidden_);
    add_attention_vectors();
  }

  void add_attention_vectors() {
    add_bias(model_.output_bias, "attention.output.bias", hidden_);
    add_bias(model_.attention_sinks, "attention.sinks", split(model_.heads));
  }

  void add_linear_attention() {
    const LinearAttention& linear = *model_.linear;
    const uint64_t heads = split(linear.value_heads);
    const uint64_t values = heads * linear.value_dim;
    const uint64_t convolved = 2 * split(linear.key_heads) * linear.key_dim + values;
    add("attention.input", TensorPart::attention, (convolved + values) * hidden_);
    add("attention.rates", TensorPart::attention, 2 * heads * hidden_);
    add("attention.output", TensorPart::attention, values * hidden_);
    add("attention.convolution", TensorPart::norm, convolved * linear.convolution);
    add("attention.decay", TensorPart::norm, 2 * heads);
    add("attention.norm", TensorPart::norm, linear.value_dim);
  }

  void add_feed_forward(uint64_t size, bool biased) {
    const uint64_t inputs = model_.gated ? 2 : 1;
    add("feed_forward.up", TensorPart::feed_forward, size * hidden_, inputs);
    add_bias(biased, "feed_forward.up.bias", size, inputs);
    add("feed_forward.down", TensorPart::down, size * hidden_);
    add_bias(biased, "feed_forward.down.bias", hidden_);
  }

  // The experts of a layer are stored as two tensors: into them, and out of them.
  void add_mixture() {
    const MixtureOfExperts& mixture = *model_.mixture;
    const uint64_t experts = split(mixture.experts);
    const uint64_t inputs = (model_.gated ? 2 : 1) * uint64_t{mixture.expert_size};
    add("router", TensorPart::router, uint64_t{mixture.experts} * hidden_);
    add_bias(mixture.router_bias, "router.bias", mixture.experts);
    add("experts.up", TensorPart::expert, experts * inputs * hidden_);
    add_bias(mixture.expert_bias, "experts.up.bias", experts * inputs);
    add("experts.down", TensorPart::expert, experts * mixture.expert_size * hidden_);
    add_bias(mixture.expert_bias, "experts.down.bias", experts * hidden_);
    if (mixture.shared_experts == 0) return;
    add_feed_forward(split(mixture.shared_expert_size), false);
    add_bias(mixture.shared_expert_gate, "shared_experts.gate", hidden_);
  }

  const ModelSpec& model_;
  uint32_t tp_;
  uint64_t hidden_;
  int32_t layer_ = -1;
  std::vector<WeightTensor> tensors_;
};

}  // namespace

std::vector<WeightTensor> weight_tensors(const ModelSpec& model, uint32_t tp) {
  return TensorList(model, tp).list();
}

double bytes_per_value(const ModelSpec& model, const WeightTensor& tensor) {
  switch (tensor.part) {
    case TensorPart::attention:
    case TensorPart::value:
    case TensorPart::feed_forward:
    case TensorPart::down:
      return model.weights.bytes;
    case TensorPart::expert:
      return model.experts ? model.experts->bytes : model.weights.bytes;
    case TensorPart::head:
      return model.quantized_head ? model.weights.bytes : model.dtype.bytes;
    case TensorPart::embedding:
    case TensorPart::router:
    case TensorPart::norm:
    case TensorPart::vision:
      return model.dtype.bytes;
  }
  return model.dtype.bytes;
}

}  // namespace llmprof::llm
