#include "llm/cost.h"

#include <algorithm>
#include <cmath>

#include "llm/attention_span.h"
#include "llm/layer_weights.h"

namespace llmprof::llm {
namespace {

// A multiplication and an addition.
constexpr double kFlopsPerWeight = 2;

double at_least_one(uint32_t gpus) { return std::max(gpus, 1U); }

// The parts of one pass on one of tp GPUs, all pipeline stages together.
class PassCalculation {
 public:
  PassCalculation(const ModelSpec& model, const ForwardPass& pass, const Parallelism& parallel)
      : model_(model),
        pass_(pass),
        tp_(at_least_one(parallel.tp)),
        ep_(at_least_one(parallel.ep)),
        batch_(static_cast<double>(pass.batch)),
        tokens_(batch_ * static_cast<double>(pass.new_tokens)),
        layer_(layer_weights(model, tp_)),
        groups_(group_layers(model)) {}

  [[nodiscard]] PassCost run() const {
    PassCost cost;
    add_vision(cost);
    cost.parts.push_back({"embedding", 0, embedding_bytes(), 0});
    cost.parts.push_back(projections());
    cost.parts.push_back(attention());
    if (layers_of(FeedForwardKind::dense) > 0) cost.parts.push_back(dense_feed_forward());
    if (layers_of(FeedForwardKind::mixture) > 0) add_mixture(cost);
    cost.parts.push_back({"norms", 0, norm_bytes(), 0});
    cost.parts.push_back(head());
    return cost;
  }

 private:
  [[nodiscard]] double layers_of(FeedForwardKind kind) const {
    double count = 0;
    for (const LayerGroup& group : groups_) {
      if (group.layer.feed_forward == kind) count += group.count;
    }
    return count;
  }
  [[nodiscard]] double layers() const { return static_cast<double>(model_.layers.size()); }

  // `matrices` stored so; biases and the like are never quantized.
  [[nodiscard]] double bytes_of(const Weights& weights, const NumberFormat& format) const {
    return weights.matrices * format.bytes + weights.others * model_.dtype.bytes;
  }
  [[nodiscard]] double multiply(const Weights& weights) const {
    return kFlopsPerWeight * tokens_ * weights.matrices;
  }

  // One row per token, the whole table at most.
  [[nodiscard]] double embedding_bytes() const {
    const double rows = std::min(tokens_, static_cast<double>(model_.vocabulary));
    return rows * model_.hidden * model_.dtype.bytes / tp_;
  }

  // Several tokens per sequence: keys and values are expanded from the latent, those of the cache
  // as well. One token: the expansion is absorbed into the query and the output, at the same cost.
  [[nodiscard]] bool expands_latent() const { return model_.latent && pass_.new_tokens > 1; }

  [[nodiscard]] CostPart projections() const {
    double flops = multiply(layer_.attention);
    if (expands_latent()) {
      flops +=
          kFlopsPerWeight * batch_ * static_cast<double>(pass_.context) * layer_.latent_expansion;
    }
    return {model_.latent ? "attention projections (latent)" : "q, k, v, o projections",
            layers() * flops, layers() * bytes_of(layer_.attention, model_.weights), 0};
  }

  // FLOPs of one query with one key, all heads of a GPU: the product with the key, and the value
  // weighted and added.
  [[nodiscard]] double pair_flops() const {
    const double heads = model_.heads / tp_;
    if (!model_.latent) return 2 * kFlopsPerWeight * heads * model_.head_dim;
    const LatentAttention& latent = *model_.latent;
    const double key = expands_latent() ? latent.nope_dim : latent.kv_rank;
    const double value = expands_latent() ? latent.value_dim : latent.kv_rank;
    return kFlopsPerWeight * heads * (key + latent.rope_dim + value);
  }

  [[nodiscard]] CostPart attention() const {
    CostPart part{model_.latent && !expands_latent() ? "attention (over the latent)" : "attention",
                  0, 0, 0};
    const double token_bytes = cached_values(model_, tp_) * model_.kv_cache.bytes;
    for (const LayerGroup& group : groups_) {
      part.flops += group.count * batch_ * attention_pairs(group.layer, pass_) * pair_flops();
      part.kv_bytes +=
          group.count * token_bytes * (batch_ * cached_tokens_seen(group.layer, pass_) + tokens_);
    }
    return part;
  }

  [[nodiscard]] CostPart dense_feed_forward() const {
    const double count = layers_of(FeedForwardKind::dense);
    return {"feed-forward", count * multiply(layer_.dense),
            count * bytes_of(layer_.dense, model_.weights), 0};
  }

  void add_mixture(PassCost& cost) const {
    const MixtureOfExperts& mixture = *model_.mixture;
    const double count = layers_of(FeedForwardKind::mixture);
    cost.parts.push_back({"router", count * multiply(layer_.router),
                          count * bytes_of(layer_.router, model_.dtype), 0});
    if (mixture.shared_experts > 0) {
      cost.parts.push_back({"shared experts", count * multiply(layer_.shared_experts),
                            count * bytes_of(layer_.shared_experts, model_.weights), 0});
    }
    // Where more GPUs share the experts than share the rest, each replica of the rest brings its
    // own tokens.
    const double gpus = ep_ > 1 ? ep_ : tp_;
    const double met = tokens_ * std::max(ep_ / tp_, 1.0);
    const NumberFormat& format = model_.experts ? *model_.experts : model_.weights;
    cost.parts.push_back(
        {"routed experts",
         count * kFlopsPerWeight * met * mixture.experts_per_token / gpus * layer_.expert.matrices,
         count * experts_touched(met) / gpus * bytes_of(layer_.expert, format), 0});
  }

  // Expected number of different experts that `tokens` tokens are sent to, each to its k of E
  // independently.
  [[nodiscard]] double experts_touched(double tokens) const {
    const double all = model_.mixture->experts;
    const double share = model_.mixture->experts_per_token / all;
    return all * (1 - std::pow(1 - share, tokens));
  }

  [[nodiscard]] double norm_bytes() const {
    const double last = model_.hidden * (model_.norm_bias ? 2.0 : 1.0);
    return (layers() * layer_.norms + last) * model_.dtype.bytes;
  }

  [[nodiscard]] CostPart head() const {
    const double positions =
        batch_ * static_cast<double>(std::min(pass_.positions_with_logits, pass_.new_tokens));
    Weights weights;
    weights.matrices = static_cast<double>(model_.vocabulary) * model_.hidden / tp_;
    if (model_.head_bias) weights.others = model_.vocabulary / tp_;
    const bool quantized = model_.quantized_head && !model_.tied_embeddings;
    return {"head", kFlopsPerWeight * positions * weights.matrices,
            positions > 0 ? bytes_of(weights, quantized ? model_.weights : model_.dtype) : 0, 0};
  }

  void add_vision(PassCost& cost) const {
    if (pass_.images == 0) return;
    const auto images = static_cast<double>(pass_.images);
    for (const VisionTower& tower : model_.vision) {
      cost.parts.push_back({tower.name, images * static_cast<double>(tower.flops_per_image),
                            static_cast<double>(tower.parameters) * model_.dtype.bytes, 0});
    }
  }

  const ModelSpec& model_;
  const ForwardPass& pass_;
  double tp_;
  double ep_;
  double batch_;
  double tokens_;
  LayerWeights layer_;
  std::vector<LayerGroup> groups_;
};

}  // namespace

double PassCost::flops() const {
  double sum = 0;
  for (const CostPart& part : parts) sum += part.flops;
  return sum;
}

double PassCost::bytes() const {
  double sum = 0;
  for (const CostPart& part : parts) sum += part.weight_bytes + part.kv_bytes;
  return sum;
}

PassCost pass_cost(const ModelSpec& model, const ForwardPass& pass, const Parallelism& parallel) {
  PassCost cost = PassCalculation(model, pass, parallel).run();
  const double stages = at_least_one(parallel.pp);
  for (CostPart& part : cost.parts) {
    part.flops /= stages;
    part.weight_bytes /= stages;
    part.kv_bytes /= stages;
  }
  return cost;
}

}  // namespace llmprof::llm
