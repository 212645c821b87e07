#pragma once

#include <optional>
#include <span>
#include <vector>

#include "analysis/detection/forward_passes.h"
#include "analysis/stages/stages.h"

namespace llmprof::analysis {

// Fills ForwardPass::size.
void measure_passes(const KernelSequence& sequence, std::span<ForwardPass> passes);

// How many times as much work each pass is as the smallest of its model, without knowing what any
// kernel does: by the threads of the kernels that both run, or, where they share hardly any, by
// kernel time. 0 for a hidden pass.
std::vector<double> relative_sizes(const KernelSequence& sequence,
                                   std::span<const ForwardPass> passes);

// What the kinds of all passes of a sequence say together.
struct PassKinds {
  bool serving = false;      // the passes are an engine's steps
  bool speculative = false;  // a model's passes verify what another's proposed
  bool told_apart = false;   // tokens are known, or there are passes of both sizes to compare
  // From the largest of a model's smaller passes to the smallest of its larger ones; 0: one size.
  double size_step = 0;
};

// Sets the kind and batch of each. A decode step takes one token of each sequence through the
// layers, a prefill more; one that takes along the sequences of the step before is mixed. Where
// grids do not tell the tokens, the larger passes of a model are its prefills. Where all are alike,
// those of more than one token are taken for prefills, and those of unknown tokens for decode steps
// if they repeat.
PassKinds tell_kinds(const KernelSequence& sequence, std::span<ForwardPass> passes);

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
