#pragma once

#include <span>
#include <string>
#include <vector>

#include "cpu_llm/annotations.h"
#include "cpu_llm/attention.h"
#include "cpu_llm/kv_cache.h"
#include "cpu_llm/rope.h"
#include "cpu_llm/weights.h"

namespace cpu_llm {

// The model with its working memory: `sequences` at once, of up to `positions` tokens each.
class Decoder {
 public:
  Decoder(const Weights& weights, size_t sequences, size_t positions, Workers& workers);

  // Forgets all tokens.
  void begin() { cached_ = 0; }

  // Adds tokens to the sequences: as many to each, those of the first sequence first. Gives for
  // each sequence the logits behind its last token; they stay valid until the next call.
  std::span<const float> add(std::span<const Token> tokens);

  // The likeliest next token of each sequence, by these logits.
  std::vector<Token> sample(std::span<const float> logits);

  // What has been computed since the object was made.
  [[nodiscard]] const OperatorCost& total_cost() const { return log_.total(); }

 private:
  // Memory for one pass; grows to the largest.
  struct Activations {
    size_t rows = 0;
    FloatBuffer residual;
    FloatBuffer normed;
    FloatBuffer qkv;
    FloatBuffer attended;
    FloatBuffer gate_up;
    FloatBuffer activated;
    FloatBuffer added;  // what the residual stream gets next
  };

  void make_room(size_t rows);
  void run_layer(size_t index, const Pass& pass);
  void run_attention(size_t index, const Pass& pass);
  void run_feed_forward(const LayerWeights& layer, size_t rows);
  void run_head(const Pass& pass);

  const Weights& weights_;
  Workers& workers_;
  size_t sequences_;
  size_t cached_ = 0;
  OperatorLog log_;
  Rope rope_;
  KvCache cache_;
  Attention attention_;
  std::vector<std::string> layer_names_;
  Activations activations_;
  FloatBuffer last_normed_;
  FloatBuffer logits_;
};

}  // namespace cpu_llm
