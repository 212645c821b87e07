#include "llm/cost.h"

#include <algorithm>
#include <cmath>

#include "llm/layer_weights.h"

namespace llmprof::llm {
namespace {

// Keys seen by all queries at positions 0 to `end` - 1 together.
double pairs_up_to(const LayerSpec& layer, double end) {
  const double window = layer.window;
  if (layer.attention == AttentionKind::full || window == 0) return end * (end + 1) / 2;
  const double one_window = window * (window + 1) / 2;
  if (layer.attention == AttentionKind::chunked) {
    const double rest = std::fmod(end, window);
    return std::floor(end / window) * one_window + rest * (rest + 1) / 2;
  }
  return end <= window ? end * (end + 1) / 2 : one_window + (end - window) * window;
}

double pairs(const LayerSpec& layer, double context, double new_tokens) {
  return pairs_up_to(layer, context + new_tokens) - pairs_up_to(layer, context);
}

double tokens_seen(const LayerSpec& layer, double context) {
  const double window = layer.window;
  if (layer.attention == AttentionKind::full || window == 0) return context;
  if (layer.attention == AttentionKind::chunked) return std::fmod(context, window);
  return std::min(context, window - 1);
}

// Sequences of a pass with the same kind of attention: SequenceSums as doubles, to avoid overflow.
struct Attending {
  double count = 0;
  double queries = 0;
  double keys = 0;
  double queries_squared = 0;
  double queries_by_keys = 0;
  // Several tokens per sequence: keys and values are expanded from the latent, including cached
  // ones. One token: the expansion is absorbed into the query and the output, at the same cost.
  bool expands_latent = false;

  // Per layer, over all sequences. Sums do not show how many tokens a window hides: unless no
  // sequence can reach the window, the layer is calculated as if all had the mean length.
  [[nodiscard]] double pairs_in(const LayerSpec& layer) const {
    if (within_window(layer)) return queries_by_keys - (queries_squared - queries) / 2;
    return count * pairs(layer, mean_context(), queries / count);
  }
  [[nodiscard]] double cached_seen_in(const LayerSpec& layer) const {
    return within_window(layer) ? cached() : count * tokens_seen(layer, mean_context());
  }
  [[nodiscard]] double cached() const { return keys - queries; }

 private:
  [[nodiscard]] bool within_window(const LayerSpec& layer) const {
    return layer.attention == AttentionKind::full || layer.window == 0 || keys <= layer.window;
  }
  [[nodiscard]] double mean_context() const { return keys / count - queries / count; }
};

// A multiplication and an addition.
constexpr double kFlopsPerWeight = 2;

double at_least_one(uint32_t gpus) { return std::max(gpus, 1U); }

// What the cost of a pass depends on.
struct PassShape {
  double tokens = 0;
  double positions_with_logits = 0;
  double images = 0;
  std::vector<Attending> sequences;
};

PassShape shape_of(const ModelSpec& model, const ForwardPass& pass) {
  const auto batch = static_cast<double>(pass.batch);
  PassShape shape;
  shape.tokens = batch * static_cast<double>(pass.new_tokens);
  shape.positions_with_logits =
      batch * static_cast<double>(std::min(pass.positions_with_logits, pass.new_tokens));
  shape.images = static_cast<double>(pass.images);
  const auto fresh = static_cast<double>(pass.new_tokens);
  const double keys = static_cast<double>(pass.context) + fresh;
  shape.sequences.push_back({batch, batch * fresh, batch * keys, batch * fresh * fresh,
                             batch * fresh * keys, model.latent && pass.new_tokens > 1});
  return shape;
}

// Engines verify drafted tokens like decode: over the latent.
PassShape shape_of(const ModelSpec& model, const MixedPass& pass) {
  PassShape shape;
  shape.tokens = static_cast<double>(pass.tokens());
  shape.positions_with_logits = static_cast<double>(pass.positions_with_logits());
  const auto add = [&](const SequenceSums& sums, bool expands) {
    if (sums.sequences == 0) return;
    shape.sequences.push_back({static_cast<double>(sums.sequences),
                               static_cast<double>(sums.queries), static_cast<double>(sums.keys),
                               static_cast<double>(sums.queries_squared),
                               static_cast<double>(sums.queries_by_keys), expands});
  };
  add(pass.prefill, model.latent.has_value());
  add(pass.decode, false);
  return shape;
}

// The parts of one pass on one of tp GPUs, over all pipeline stages.
class PassCalculation {
 public:
  PassCalculation(const ModelSpec& model, const PassShape& pass, const Degrees& parallel)
      : model_(model),
        pass_(pass),
        tp_(at_least_one(parallel.tp)),
        ep_(at_least_one(parallel.ep)),
        tokens_(pass.tokens),
        layer_(layer_weights(model, tp_)),
        groups_(group_layers(model)) {}

  [[nodiscard]] PassCost run() const {
    PassCost cost;
    add_vision(cost);
    cost.parts.push_back({"embedding", 0, embedding_bytes(), 0});
    cost.parts.push_back(projections());
    cost.parts.push_back(attention());
    if (model_.linear) cost.parts.push_back(linear_attention());
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

  // Bytes with the matrices in `format`; biases and the like are never quantized.
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

  [[nodiscard]] CostLine projections() const {
    double flops = multiply(layer_.attention);
    for (const Attending& sequences : pass_.sequences) {
      if (!sequences.expands_latent) continue;
      flops += kFlopsPerWeight * sequences.cached() * layer_.latent_expansion;
    }
    return {model_.latent ? "attention projections (latent)" : "q, k, v, o projections",
            layers_with_cache(model_) * flops,
            layers_with_cache(model_) * bytes_of(layer_.attention, model_.weights), 0};
  }

  // Projections, and per token and head: decay, two products with the state, and its update. A
  // pass reads and writes the state of each sequence once.
  [[nodiscard]] CostLine linear_attention() const {
    constexpr double kStatePasses = 4;
    const double count = layers() - layers_with_cache(model_);
    const LinearState state = linear_state(model_, tp_);
    double sequences = 0;
    for (const Attending& attending : pass_.sequences) sequences += attending.count;
    const double state_bytes =
        state.recurrent * sizeof(float) + state.convolution * model_.dtype.bytes;
    return {"linear attention",
            count * (multiply(layer_.linear) + 2 * kStatePasses * tokens_ * state.recurrent),
            count * bytes_of(layer_.linear, model_.weights), count * 2 * sequences * state_bytes};
  }

  // FLOPs of one query with one key, for all heads of a GPU: the product with the key, and adding
  // the weighted value.
  [[nodiscard]] double pair_flops(bool expands_latent) const {
    const double heads = model_.heads / tp_;
    if (!model_.latent) return 2 * kFlopsPerWeight * heads * model_.head_dim;
    const LatentAttention& latent = *model_.latent;
    const double key = expands_latent ? latent.nope_dim : latent.kv_rank;
    const double value = expands_latent ? latent.value_dim : latent.kv_rank;
    return kFlopsPerWeight * heads * (key + latent.rope_dim + value);
  }

  [[nodiscard]] CostLine attention() const {
    const bool expands =
        std::any_of(pass_.sequences.begin(), pass_.sequences.end(),
                    [](const Attending& sequences) { return sequences.expands_latent; });
    CostLine part;
    part.name = model_.latent && !expands ? "attention (over the latent)" : "attention";
    part.kind = CostKind::attention;
    const double token_bytes = cached_values(model_, tp_) * model_.kv_cache.bytes;
    for (const LayerGroup& group : groups_) {
      if (group.layer.attention == AttentionKind::linear) continue;
      double touched = tokens_;  // new tokens are written, older ones read
      for (const Attending& sequences : pass_.sequences) {
        part.flops +=
            group.count * sequences.pairs_in(group.layer) * pair_flops(sequences.expands_latent);
        touched += sequences.cached_seen_in(group.layer);
      }
      part.kv_bytes += group.count * token_bytes * touched;
    }
    return part;
  }

  [[nodiscard]] CostLine dense_feed_forward() const {
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
    // If more GPUs share the experts than the rest, each replica of the rest adds its tokens.
    const double gpus = ep_ > 1 ? ep_ : tp_;
    const double met = tokens_ * std::max(ep_ / tp_, 1.0);
    const NumberFormat& format = model_.experts ? *model_.experts : model_.weights;
    cost.parts.push_back(
        {"routed experts",
         count * kFlopsPerWeight * met * mixture.experts_per_token / gpus * layer_.expert.matrices,
         count * experts_touched(met) / gpus * bytes_of(layer_.expert, format), 0});
  }

  // Expected number of different experts that `tokens` tokens are routed to, each independently to
  // its k of E.
  [[nodiscard]] double experts_touched(double tokens) const {
    const double all = model_.mixture->experts;
    const double share = model_.mixture->experts_per_token / all;
    return all * (1 - std::pow(1 - share, tokens));
  }

  [[nodiscard]] double norm_bytes() const {
    const double last = model_.hidden * (model_.norm_bias ? 2.0 : 1.0);
    const double with_cache = layers_with_cache(model_);
    const double inside =
        with_cache * layer_.attention_norms + (layers() - with_cache) * layer_.linear_norms;
    return (layers() * layer_.norms + inside + last) * model_.dtype.bytes;
  }

  [[nodiscard]] CostLine head() const {
    const double positions = pass_.positions_with_logits;
    Weights weights;
    weights.matrices = static_cast<double>(model_.vocabulary) * model_.hidden / tp_;
    if (model_.head_bias) weights.others = model_.vocabulary / tp_;
    const bool quantized = model_.quantized_head && !model_.tied_embeddings;
    return {"head", kFlopsPerWeight * positions * weights.matrices,
            positions > 0 ? bytes_of(weights, quantized ? model_.weights : model_.dtype) : 0, 0};
  }

  void add_vision(PassCost& cost) const {
    if (pass_.images == 0) return;
    for (const VisionTower& tower : model_.vision) {
      cost.parts.push_back({tower.name, pass_.images * static_cast<double>(tower.flops_per_image),
                            static_cast<double>(tower.parameters) * model_.dtype.bytes, 0});
    }
  }

  const ModelSpec& model_;
  const PassShape& pass_;
  double tp_;
  double ep_;
  double tokens_;
  LayerWeights layer_;
  std::vector<LayerGroup> groups_;
};

PassCost cost_of(const ModelSpec& model, const PassShape& shape, const Degrees& parallel) {
  PassCost cost = PassCalculation(model, shape, parallel).run();
  const double stages = at_least_one(parallel.pp);
  for (CostLine& part : cost.parts) {
    part.flops /= stages;
    part.weight_bytes /= stages;
    part.kv_bytes /= stages;
  }
  return cost;
}

}  // namespace

bool are_possible(const SequenceSums& sums) {
  const auto sequences = static_cast<double>(sums.sequences);
  const auto queries = static_cast<double>(sums.queries);
  const auto keys = static_cast<double>(sums.keys);
  const auto squared = static_cast<double>(sums.queries_squared);
  const auto by_keys = static_cast<double>(sums.queries_by_keys);
  if (sums.sequences == 0) return sums == SequenceSums();
  return queries >= sequences && keys >= queries && by_keys >= squared &&
         squared <= queries * queries && squared * sequences >= queries * queries &&
         by_keys <= queries * keys && by_keys >= keys;
}

double causal_pairs(const SequenceSums& sums) {
  const double below_diagonal =
      (static_cast<double>(sums.queries_squared) - static_cast<double>(sums.queries)) / 2;
  return static_cast<double>(sums.queries_by_keys) - below_diagonal;
}

double PassCost::flops() const {
  double sum = 0;
  for (const CostLine& part : parts) sum += part.flops;
  return sum;
}

double PassCost::bytes() const {
  double sum = 0;
  for (const CostLine& part : parts) sum += part.weight_bytes + part.kv_bytes;
  return sum;
}

PassCost pass_cost(const ModelSpec& model, const ForwardPass& pass, const Degrees& parallel) {
  return cost_of(model, shape_of(model, pass), parallel);
}

PassCost mixed_pass_cost(const ModelSpec& model, const MixedPass& pass, const Degrees& parallel) {
  return cost_of(model, shape_of(model, pass), parallel);
}

std::vector<uint64_t> contexts_to_compare(const ModelSpec& model) {
  constexpr uint64_t kFirst = 1024;
  constexpr uint64_t kLast = 131072;
  const uint64_t most =
      model.longest_context == 0 ? kLast : std::min<uint64_t>(model.longest_context, kLast);
  std::vector<uint64_t> contexts;
  for (uint64_t context = kFirst; context <= most; context *= 2) contexts.push_back(context);
  if (contexts.empty() || contexts.back() != most) contexts.push_back(most);
  return contexts;
}

}  // namespace llmprof::llm
