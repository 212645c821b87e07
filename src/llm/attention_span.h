#pragma once

#include "llm/cost.h"
#include "llm/sequence_sums.h"

namespace llmprof::llm {

// How many (query, key) pairs one layer's attention works out for one sequence of a pass. A query
// sees itself and what precedes it, as far as the layer's window reaches.
double attention_pairs(const LayerSpec& layer, const ForwardPass& pass);

// Tokens of the cache, older than the pass, that some query of it sees.
double cached_tokens_seen(const LayerSpec& layer, const ForwardPass& pass);

// Both of all the sequences together. Sums do not tell how many tokens a window hides: a layer with
// one is calculated as if all sequences had the mean length, unless none can reach its window.
double attention_pairs(const LayerSpec& layer, const SequenceSums& sums);
double cached_tokens_seen(const LayerSpec& layer, const SequenceSums& sums);

}  // namespace llmprof::llm
