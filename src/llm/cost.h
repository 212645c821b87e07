#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "llm/model_spec.h"

namespace llmprof::llm {

// How a model is distributed over GPUs. Experts are distributed over `ep` GPUs, or over `tp` if ep
// is 1. If ep exceeds tp, there are ep / tp replicas of the rest, each with its own batch.
struct Degrees {
  uint32_t tp = 1;
  uint32_t pp = 1;
  uint32_t ep = 1;
};

// One forward pass: `batch` sequences, each adding `new_tokens` to `context` tokens already cached.
// Prefill: new_tokens = prompt, context = 0. Decode: new_tokens = 1, context = all previous tokens.
struct ForwardPass {
  uint64_t batch = 1;
  uint64_t new_tokens = 1;
  uint64_t context = 0;
  uint64_t positions_with_logits = 1;  // per sequence; HF computes 1 in prefill
  uint64_t images = 0;                 // through the vision towers
};

// Sequences that share a pass, described by sums over them. A sequence adds q tokens, its queries.
// It then has k tokens, its keys: the cached ones and the q new ones. These sums exactly determine
// the work of causal attention without a window, whatever the mix of lengths.
struct SequenceSums {
  uint64_t sequences = 0;
  uint64_t queries = 0;          // sum of q
  uint64_t keys = 0;             // sum of k
  uint64_t queries_squared = 0;  // sum of q * q
  uint64_t queries_by_keys = 0;  // sum of q * k

  friend bool operator==(const SequenceSums&, const SequenceSums&) = default;
};

// Whether any sequences can have these sums: each k is at least its q, and sums of squares are
// bounded by the squares of sums.
[[nodiscard]] bool are_possible(const SequenceSums& sums);

// (query, key) pairs of causal attention without a window: each query sees its sequence's cached
// tokens, the new tokens before it, and itself.
[[nodiscard]] double causal_pairs(const SequenceSums& sums);

// One forward pass over a batch with some sequences in prefill and some in decode.
struct MixedPass {
  SequenceSums prefill;
  SequenceSums decode;

  [[nodiscard]] uint64_t tokens() const { return prefill.queries + decode.queries; }
  // The last position of each prompt; in decode all positions, since logits verify drafted tokens.
  [[nodiscard]] uint64_t positions_with_logits() const {
    return prefill.sequences + decode.queries;
  }

  friend bool operator==(const MixedPass&, const MixedPass&) = default;
};

// What the work of a part consists of.
enum class CostKind : uint8_t { products, attention, other };

// A line of the calculation, as shown in reports.
struct CostLine {
  std::string name;  // "q, k, v, o projections", "attention", "routed experts", "head", ...
  double flops = 0;
  double weight_bytes = 0;  // read once per pass
  double kv_bytes = 0;      // cache read and written
  CostKind kind = CostKind::products;
};

// What one GPU computes and moves for a pass; the mean over pipeline stages. Excludes activations:
// they are small compared with the weights, and fused kernels keep them in cache.
struct PassCost {
  std::vector<CostLine> parts;
  [[nodiscard]] double flops() const;
  [[nodiscard]] double bytes() const;
};

PassCost pass_cost(const ModelSpec& model, const ForwardPass& pass, const Degrees& parallel);
// The same parts. Attention is exact except in layers with a window.
PassCost mixed_pass_cost(const ModelSpec& model, const MixedPass& pass, const Degrees& parallel);

// Parameters and FLOPs are doubles, since a faulty specification may have any size. Counts that no
// model reaches are capped here, where every double still fits an integer.
inline uint64_t whole_count(double count) {
  constexpr double kLargestCount = 1e18;
  return static_cast<uint64_t>(std::min(count, kLargestCount));
}

// Of the whole model, over all GPUs.
uint64_t parameter_count(const ModelSpec& model);
// Parameters that one token uses: without the experts it is not routed to, and without the input
// embedding, of which it reads one row.
uint64_t active_parameter_count(const ModelSpec& model);
double weight_bytes(const ModelSpec& model);
// The cache's growth per token, over all layers and GPUs.
double kv_bytes_per_token(const ModelSpec& model);
// What a sequence of `context` tokens keeps, over all layers and GPUs: layers with a window hold at
// most its tokens, layers of linear attention a state of fixed size.
double kv_bytes_per_sequence(const ModelSpec& model, uint64_t context);

// Contexts to compare: 1,024 tokens and each double of it, up to what the model was made for, at
// most 131,072; then that.
std::vector<uint64_t> contexts_to_compare(const ModelSpec& model);

}  // namespace llmprof::llm
