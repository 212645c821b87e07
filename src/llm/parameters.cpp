#include <algorithm>

#include "llm/cost.h"
#include "llm/layer_weights.h"
#include "llm/whole_count.h"

namespace llmprof::llm {
namespace {

double all_of(const Weights& weights) { return weights.matrices + weights.others; }

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

// All layers with `experts` routed experts in each mixture.
double layer_parameters(const ModelSpec& model, double experts) {
  const LayerWeights layer = layer_weights(model, 1);
  double sum = 0;
  for (const LayerGroup& group : group_layers(model)) {
    const double feed_forward =
        group.layer.feed_forward == FeedForwardKind::dense
            ? all_of(layer.dense)
            : all_of(layer.router) + all_of(layer.shared_experts) + experts * all_of(layer.expert);
    sum += group.count * (all_of(layer.attention) + layer.norms + feed_forward);
  }
  return sum;
}

}  // namespace

uint64_t parameter_count(const ModelSpec& model) {
  const double embeddings = embedding_weights(model) * (model.tied_embeddings ? 1 : 2);
  const double experts = model.mixture ? model.mixture->experts : 0;
  return whole_count(embeddings + head_bias(model) + final_norm(model) +
                     layer_parameters(model, experts) + vision_parameters(model));
}

uint64_t active_parameter_count(const ModelSpec& model) {
  const double experts = model.mixture ? model.mixture->experts_per_token : 0;
  return whole_count(embedding_weights(model) + head_bias(model) + final_norm(model) +
                     layer_parameters(model, experts));
}

double weight_bytes(const ModelSpec& model) {
  const LayerWeights layer = layer_weights(model, 1);
  const double matrix = model.weights.bytes;
  const double expert = model.experts ? model.experts->bytes : matrix;
  const double other = model.dtype.bytes;
  double bytes = embedding_weights(model) * other + final_norm(model) * other +
                 head_bias(model) * other + vision_parameters(model) * other;
  if (!model.tied_embeddings) {
    bytes += embedding_weights(model) * (model.quantized_head ? matrix : other);
  }
  for (const LayerGroup& group : group_layers(model)) {
    bytes += group.count *
             (layer.attention.matrices * matrix + (layer.attention.others + layer.norms) * other);
    if (group.layer.feed_forward == FeedForwardKind::dense) {
      bytes += group.count * (layer.dense.matrices * matrix + layer.dense.others * other);
      continue;
    }
    bytes += group.count * (all_of(layer.router) * other + layer.shared_experts.matrices * matrix +
                            layer.shared_experts.others * other +
                            model.mixture->experts *
                                (layer.expert.matrices * expert + layer.expert.others * other));
  }
  return bytes;
}

double kv_bytes_per_token(const ModelSpec& model) {
  return cached_values(model, 1) * model.kv_cache.bytes * static_cast<double>(model.layers.size());
}

}  // namespace llmprof::llm
