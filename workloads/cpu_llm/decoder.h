#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "cpu_llm/annotations.h"
#include "cpu_llm/attention.h"
#include "cpu_llm/kv_cache.h"
#include "cpu_llm/ranks.h"
#include "cpu_llm/rope.h"
#include "cpu_llm/weights.h"

namespace cpu_llm {

// One of the ranks that compute a model together.
struct RankRole {
  Ranks* ranks = nullptr;  // null: there is one
  double slow_by = 1;      // its operators take this many times as long
};

// A layer whose operators take `by` times as long.
struct SlowLayer {
  size_t layer = 0;
  double by = 1;
};

// The model with its working memory, for `sequences` at once of up to `positions` tokens each. With
// several ranks, each has its part of the weights, and all compute the same logits.
class Decoder {
 public:
  Decoder(const Weights& weights, size_t sequences, size_t positions, Workers& workers,
          const RankRole& role = {});

  // Removes all tokens.
  void begin() { cached_ = 0; }

  // Adds tokens to the sequences: the same number to each, those of the first sequence first.
  // Returns for each sequence the logits after its last token, valid until the next call.
  std::span<const float> add(std::span<const Token> tokens);

  // One pass over chunks of any sequences, whose caches hold what each chunk says. Returns the
  // logits of those that want them, in order, valid until the next call.
  std::span<const float> run(const Pass& pass, std::span<const Token> tokens);

  // Until the next call; for a decoder whose operators are not slowed down anyway.
  void slow_down(std::optional<SlowLayer> layer) { slow_layer_ = layer; }

  // The most likely next token of each row of logits.
  std::vector<Token> sample(std::span<const float> logits);

  // The cost of everything computed since construction.
  [[nodiscard]] const OperatorCost& total_cost() const { return log_.total(); }
  // The time by which its operators were slowed down.
  [[nodiscard]] int64_t total_delay_ns() const { return log_.delay_ns(); }

 private:
  // Memory for one pass; grows to the largest pass.
  struct Activations {
    size_t rows = 0;
    FloatBuffer residual;
    FloatBuffer normed;
    FloatBuffer qkv;
    FloatBuffer attended;
    FloatBuffer gate_up;
    FloatBuffer activated;
    FloatBuffer added;  // to be added to the residual stream
  };

  void make_room(size_t rows);
  void run_layer(size_t index, const Pass& pass);
  void run_attention(size_t index, const Pass& pass);
  void run_feed_forward(const LayerWeights& layer, size_t rows);
  // Adds up what the ranks' parts of a projection add to the residual stream.
  void sum_over_ranks(size_t rows);
  void run_head(const Pass& pass);

  const Weights& weights_;
  Workers& workers_;
  Ranks* ranks_;
  RankGroup group_;
  size_t sequences_;
  size_t cached_ = 0;
  OperatorLog log_;
  Rope rope_;
  KvCache cache_;
  Attention attention_;
  std::vector<std::string> layer_names_;
  Activations activations_;
  std::optional<SlowLayer> slow_layer_;
  // Rows with logits.
  FloatBuffer last_residual_;
  FloatBuffer last_added_;
  FloatBuffer last_normed_;
  FloatBuffer own_logits_;  // of this rank's part of the vocabulary; empty without other ranks
  FloatBuffer logits_;
};

}  // namespace cpu_llm
