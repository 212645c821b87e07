#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "llm/model_spec.h"

namespace llmprof::llm {

// How a model is spread over GPUs. Experts are spread over `ep` GPUs, or over `tp` where ep is 1.
// Where ep exceeds tp there are ep / tp replicas of the rest, each with a batch of its own.
struct Parallelism {
  uint32_t tp = 1;
  uint32_t pp = 1;
  uint32_t ep = 1;
};

// One forward pass: `batch` sequences, each adding `new_tokens` to `context` tokens already cached.
// Prefill is new_tokens = prompt, context = 0; a decode step new_tokens = 1, context = what
// precedes.
struct ForwardPass {
  uint64_t batch = 1;
  uint64_t new_tokens = 1;
  uint64_t context = 0;
  uint64_t positions_with_logits = 1;  // a sequence; HF computes 1 in prefill
  uint64_t images = 0;                 // through the vision towers
};

// Sequences that pass together, described by sums over them. A sequence adds q tokens, its queries,
// and has k tokens then, its keys: those that were cached and the q new ones. These sums determine
// the work of causal attention without a window exactly, whatever the mix of lengths.
struct SequenceSums {
  uint64_t sequences = 0;
  uint64_t queries = 0;          // sum of q
  uint64_t keys = 0;             // sum of k
  uint64_t queries_squared = 0;  // sum of q * q
  uint64_t queries_by_keys = 0;  // sum of q * k

  friend bool operator==(const SequenceSums&, const SequenceSums&) = default;
};

// Whether some sequences have these sums: each k is at least its q, and sums of squares are bounded
// by the squares of sums.
[[nodiscard]] bool are_possible(const SequenceSums& sums);

// (query, key) pairs of causal attention without a window: a sequence's queries see its cached
// tokens, themselves and those before them.
[[nodiscard]] double causal_pairs(const SequenceSums& sums);

// One forward pass over a batch in which some sequences are in prefill, some in decode.
struct MixedPass {
  SequenceSums prefill;
  SequenceSums decode;

  [[nodiscard]] uint64_t tokens() const { return prefill.queries + decode.queries; }
  // The last position of each prompt; of each sequence in decode all, since drafted tokens are
  // verified by their logits.
  [[nodiscard]] uint64_t positions_with_logits() const {
    return prefill.sequences + decode.queries;
  }

  friend bool operator==(const MixedPass&, const MixedPass&) = default;
};

// A line of the calculation, as it is shown to the reader.
struct CostPart {
  std::string name;  // "q, k, v, o projections", "attention", "routed experts", "head", ...
  double flops = 0;
  double weight_bytes = 0;  // read once per pass
  double kv_bytes = 0;      // cache read and written
};

// What one GPU computes and moves for a pass; of pipeline stages, the mean. Activations are left
// out: they are small beside the weights, and stay in cache where kernels are fused.
struct PassCost {
  std::vector<CostPart> parts;
  [[nodiscard]] double flops() const;
  [[nodiscard]] double bytes() const;
};

PassCost pass_cost(const ModelSpec& model, const ForwardPass& pass, const Parallelism& parallel);
// The same parts. Attention is exact but for layers with a window.
PassCost mixed_pass_cost(const ModelSpec& model, const MixedPass& pass,
                         const Parallelism& parallel);

// Parameters and FLOPs are computed as doubles, since a faulty specification may ask for any size.
// Counts that no model reaches are cut there, where every double still fits an integer.
inline uint64_t whole_count(double count) {
  constexpr double kLargestCount = 1e18;
  return static_cast<uint64_t>(std::min(count, kLargestCount));
}

// Of the whole model, all GPUs together.
uint64_t parameter_count(const ModelSpec& model);
// Parameters that one token meets: without the experts it is not routed to, and without the input
// embedding, of which it reads one row.
uint64_t active_parameter_count(const ModelSpec& model);
double weight_bytes(const ModelSpec& model);
// The cache's growth a token, all layers, all GPUs together.
double kv_bytes_per_token(const ModelSpec& model);

}  // namespace llmprof::llm
