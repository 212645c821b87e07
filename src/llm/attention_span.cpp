#include "llm/attention_span.h"

#include <algorithm>
#include <cmath>

namespace llmprof::llm {
namespace {

// Keys that the queries at positions 0 to `end` - 1 see together.
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

bool within_window(const LayerSpec& layer, const SequenceSums& sums) {
  return layer.attention == AttentionKind::full || layer.window == 0 || sums.keys <= layer.window;
}

// A sequence of the mean length.
struct MeanSequence {
  explicit MeanSequence(const SequenceSums& sums)
      : count(static_cast<double>(sums.sequences)),
        new_tokens(static_cast<double>(sums.queries) / count),
        context(static_cast<double>(sums.keys) / count - new_tokens) {}
  double count;
  double new_tokens;
  double context;
};

}  // namespace

double attention_pairs(const LayerSpec& layer, const ForwardPass& pass) {
  return pairs(layer, static_cast<double>(pass.context), static_cast<double>(pass.new_tokens));
}

double cached_tokens_seen(const LayerSpec& layer, const ForwardPass& pass) {
  return tokens_seen(layer, static_cast<double>(pass.context));
}

double attention_pairs(const LayerSpec& layer, const SequenceSums& sums) {
  if (sums.sequences == 0) return 0;
  if (within_window(layer, sums)) return causal_pairs(sums);
  const MeanSequence mean(sums);
  return mean.count * pairs(layer, mean.context, mean.new_tokens);
}

double cached_tokens_seen(const LayerSpec& layer, const SequenceSums& sums) {
  if (sums.sequences == 0) return 0;
  if (within_window(layer, sums)) return static_cast<double>(sums.keys - sums.queries);
  const MeanSequence mean(sums);
  return mean.count * tokens_seen(layer, mean.context);
}

}  // namespace llmprof::llm
