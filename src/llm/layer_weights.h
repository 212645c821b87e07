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
  Weights dense;
  Weights router;
  Weights expert;
  Weights shared_experts;
  double norms = 0;
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
// Values per token in the cache of one layer on one GPU.
double cached_values(const ModelSpec& model, double tp);

}  // namespace llmprof::llm
