#pragma once

#include <optional>
#include <span>
#include <vector>

#include "analysis/detection/forward_passes.h"
#include "analysis/stages/stages.h"

namespace llmprof::analysis {

// Fills ForwardPass::size.
void measure_passes(const KernelSequence& sequence, std::span<ForwardPass> passes);

// Work of each pass relative to the smallest of its model, without knowing what the kernels do: by
// threads of their common kernels or, if they share hardly any, by kernel time. 0 for a hidden
// pass.
std::vector<double> relative_sizes(const KernelSequence& sequence,
                                   std::span<const ForwardPass> passes);

// Conclusions from the kinds of all passes of a sequence.
struct PassKinds {
  bool serving = false;        // the passes are an engine's steps
  bool speculative = false;    // one model's passes verify tokens that another model's proposed
  bool distinguished = false;  // tokens are known, or passes of both sizes can be compared
  // Ratio of a model's smallest large pass to its largest small one; 0: only one size.
  double size_step = 0;
};

// Sets the kind and batch of each pass. A decode step takes one token per sequence through the
// layers, a prefill more; a prefill that also decodes the previous step's sequences is mixed. If
// grids do not show tokens, a model's larger passes are its prefills. If all have one size, passes
// of more than one token count as prefills; passes of unknown tokens count as decode steps if they
// repeat.
PassKinds classify_passes(const KernelSequence& sequence, std::span<ForwardPass> passes);

// Numbers of layers of two models whose passes alternate: one or more of the smaller model, then
// one of the larger.
struct ModelTurns {
  uint32_t draft_layers = 0;
  uint32_t verify_layers = 0;
  uint64_t most_drafts = 0;  // most passes of the smaller model in one turn
};

// Speculative decoding: passes of a small model alternate with one pass of a large model that
// verifies the proposed tokens.
struct Speculation : ModelTurns {
  uint64_t drafts = 0;
  uint64_t verifications = 0;
  Nanoseconds draft_time = 0;   // kernels of all draft passes
  Nanoseconds verify_time = 0;  // kernels of all verify passes
};

// `layers`: number of layers per pass, in order.
std::optional<ModelTurns> find_turns(std::span<const uint32_t> layers);

template <class Passes>
std::vector<uint32_t> layers_of(const Passes& passes) {
  std::vector<uint32_t> layers;
  layers.reserve(passes.size());
  for (const auto& pass : passes) layers.push_back(pass.layers);
  return layers;
}

// By pass, whether it belongs to a prefill that an earlier pass started. Both models process the
// prompt; if the smaller one comes first, no token is certain until the larger one has processed
// the prompt and the drafts.
std::vector<bool> in_prefill_before(std::span<const ForwardPass> passes, const ModelTurns& turns);

// From the decode steps of two models (Step::layers) that alternate; none if they do not. `steps`
// are in order of start.
std::optional<Speculation> find_speculation(const std::vector<Step>& steps);

}  // namespace llmprof::analysis
