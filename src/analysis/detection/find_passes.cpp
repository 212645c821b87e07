#include "analysis/detection/find_passes.h"

#include <utility>

#include "analysis/detection/layer_beats.h"
#include "analysis/detection/structural_passes.h"

namespace llmprof::analysis {
namespace {

// One pass in so many may hold other numbers of attentions than layers.
constexpr size_t kSeldomDiffers = 20;

// Whether what is known as attention, if anything is, occurs once per layer of each pass.
bool attention_agrees(const KernelSequence& sequence, const ForwardPasses& found) {
  const std::vector<LayerBeat> beats = find_layer_beats(sequence);
  size_t differing = 0;
  size_t beat = 0;
  for (const ForwardPass& pass : found.passes) {
    size_t inside = 0;
    for (; beat < beats.size() && beats[beat].first < pass.end; ++beat) {
      if (beats[beat].first >= pass.begin) ++inside;
    }
    if (inside > 0 && !pass.replay() && inside != pass.layers) ++differing;
  }
  return differing * kSeldomDiffers <= found.passes.size();
}

}  // namespace

ForwardPasses find_forward_passes(const KernelSequence& sequence) {
  ForwardPasses structural = find_structural_passes(sequence);
  ForwardPasses named = find_named_passes(sequence);
  if (structural.passes.empty()) return named;
  structural.basis = ForwardPasses::Basis::structure;
  if (named.passes.size() == structural.passes.size()) {
    named.basis = ForwardPasses::Basis::both;
    return named;
  }
  // Every attention is in a pass of equal layers, but what repeats is not these layers, or not in
  // all passes: layers of varying length, a model of two layers, first passes of compiled code.
  const bool complete = !named.passes.empty() && named.layers_in_passes == named.layers;
  const bool explains_more = complete && (named.passes.size() > structural.passes.size() ||
                                          !attention_agrees(sequence, structural));
  return explains_more ? named : structural;
}

}  // namespace llmprof::analysis
