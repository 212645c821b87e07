#pragma once

#include <optional>
#include <span>
#include <vector>

#include "analysis/detection/forward_passes.h"
#include "analysis/stages/stages.h"

namespace llmprof::analysis {

// The numbers of layers of two models whose passes take turns: one or more of the smaller one, then
// one of the larger.
struct ModelTurns {
  uint32_t draft_layers = 0;
  uint32_t verify_layers = 0;
  uint64_t most_drafts = 0;  // passes of the smaller one in one turn
};

// Speculative decoding: passes of a small model, then one of a large model that verifies what they
// proposed, in turn.
struct Speculation : ModelTurns {
  uint64_t drafts = 0;
  uint64_t verifications = 0;
  Nanoseconds draft_time = 0;   // kernels of all draft passes
  Nanoseconds verify_time = 0;  // of all verify passes
};

// `layers`: of passes in order.
std::optional<ModelTurns> find_turns(std::span<const uint32_t> layers);

template <class Passes>
std::vector<uint32_t> layers_of(const Passes& passes) {
  std::vector<uint32_t> layers;
  for (const auto& pass : passes) layers.push_back(pass.layers);
  return layers;
}

// By pass, whether it belongs to the prefill that a pass before it began: both models take the
// prompt, and where the smaller one is first, no token is certain before the larger one has taken
// it with what was drafted.
std::vector<bool> in_prefill_before(std::span<const ForwardPass> passes, const ModelTurns& turns);

// In the decode steps of two models (Step::layers) that alternate; none where they do not. `steps`
// are in order of start.
std::optional<Speculation> find_speculation(const std::vector<Step>& steps);

}  // namespace llmprof::analysis
