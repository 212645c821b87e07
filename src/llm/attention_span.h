#pragma once

#include "llm/cost.h"

namespace llmprof::llm {

// How many (query, key) pairs one layer's attention works out for one sequence of a pass. A query
// sees itself and what precedes it, as far as the layer's window reaches.
double attention_pairs(const LayerSpec& layer, const ForwardPass& pass);

// Tokens of the cache, older than the pass, that some query of it sees.
double cached_tokens_seen(const LayerSpec& layer, const ForwardPass& pass);

}  // namespace llmprof::llm
