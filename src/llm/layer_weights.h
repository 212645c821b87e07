#pragma once

#include <vector>

#include "llm/cost.h"

namespace llmprof::llm {

// Numbers of weights; doubles, because a GPU's share may have a fraction (exact up to 2^53).
struct Weights {
  double matrices = 0;
  double others = 0;  // biases, norms, sinks: never quantized
};

// One layer's weights on one of `tp` GPUs; for experts, one complete expert.
struct LayerWeights {
  Weights attention;
  double latent_expansion = 0;  // part of attention's: from the latent to keys and values
  Weights linear;               // in place of attention's in layers of linear attention
  double linear_norms = 0;      // in place of `attention_norms`
  Weights dense;
  Weights router;
  Weights expert;
  Weights shared_experts;
  double attention_norms = 0;  // inside attention: of queries, keys, latents
  double norms = 0;            // of the layer itself
};

LayerWeights layer_weights(const ModelSpec& model, double tp);

// Layers of one kind, so that long models are as fast to calculate as short ones.
struct LayerGroup {
  LayerSpec layer;
  double count = 0;
};
std::vector<LayerGroup> group_layers(const ModelSpec& model);

// Key-value heads on one GPU: with fewer heads than GPUs, heads are replicated.
double kv_heads_on_gpu(const ModelSpec& model, double tp);
// Layers with a cache that grows with each token.
double layers_with_cache(const ModelSpec& model);
// Values of a sequence's state in one layer of linear attention, on one GPU.
struct LinearState {
  double recurrent = 0;    // 32-bit floats
  double convolution = 0;  // in the model's dtype
};
LinearState linear_state(const ModelSpec& model, double tp);

// Values per token in the cache of one layer that has one, on one GPU.
double cached_values(const ModelSpec& model, double tp);

}  // namespace llmprof::llm
