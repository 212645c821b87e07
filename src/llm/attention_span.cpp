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

}  // namespace

double attention_pairs(const LayerSpec& layer, const ForwardPass& pass) {
  const auto context = static_cast<double>(pass.context);
  const double end = context + static_cast<double>(pass.new_tokens);
  return pairs_up_to(layer, end) - pairs_up_to(layer, context);
}

double cached_tokens_seen(const LayerSpec& layer, const ForwardPass& pass) {
  const auto context = static_cast<double>(pass.context);
  const double window = layer.window;
  if (layer.attention == AttentionKind::full || window == 0) return context;
  if (layer.attention == AttentionKind::chunked) return std::fmod(context, window);
  return std::min(context, window - 1);
}

}  // namespace llmprof::llm
