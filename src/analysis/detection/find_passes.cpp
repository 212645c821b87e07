#include "analysis/detection/find_passes.h"

#include <fmt/format.h>

#include <algorithm>

#include "analysis/detection/layer_beats.h"
#include "analysis/detection/pass_boundary.h"
#include "analysis/detection/structural_passes.h"
#include "analysis/detection/untraced_cuts.h"

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

// Names may take a gather within the last layer for the next pass's embedding. Where the host had
// not read the result of a pass yet, the next one had not begun.
void follow_read_backs(const KernelSequence& sequence, const ForwardPasses& structural,
                       ForwardPasses& named) {
  const ReadBacks read_backs = find_read_backs(sequence);
  for (size_t i = 0; i + 1 < named.passes.size(); ++i) {
    const ForwardPass& before = structural.passes[i];
    const ForwardPass& behind = structural.passes[i + 1];
    const uint32_t begin = named.passes[i + 1].begin;
    if (!before.end_seen || begin >= behind.begin || begin > behind.first_beat) continue;
    const auto read =
        std::lower_bound(read_backs.begin(), read_backs.end(), sequence.start(before.last_beat));
    if (read == read_backs.end() || *read <= sequence.start(begin)) continue;
    if (*read > sequence.start(behind.first_beat)) continue;
    named.passes[i].end = behind.begin;
    named.passes[i + 1].begin = behind.begin;
    named.passes[i + 1].embedding.reset();
  }
}

}  // namespace

ForwardPasses find_forward_passes(const KernelSequence& sequence) {
  const auto cut = [&, cuts = untraced_cuts(sequence)](ForwardPasses found) {
    found.cuts = cuts;
    part_at_cuts(found, static_cast<uint32_t>(sequence.size()));
    return found;
  };
  ForwardPasses structural = cut(find_structural_passes(sequence));
  if (structural.training) return structural;
  ForwardPasses named = cut(find_named_passes(sequence));
  if (structural.passes.empty()) {
    // The softmax of a loss stands between matrix products too.
    if (named.attention_by_softmax && !named.passes.empty()) {
      named.reason = fmt::format("a softmax runs between two GEMMs {} times, but {}", named.layers,
                                 structural.reason);
      named.passes.clear();
      named.vision.clear();
    }
    return named;
  }
  structural.basis = ForwardPasses::Basis::structure;
  if (named.passes.size() == structural.passes.size()) {
    named.basis = ForwardPasses::Basis::both;
    follow_read_backs(sequence, structural, named);
    return named;
  }
  // Every attention is in a pass of equal layers, but what repeats is not these layers, or not in
  // all passes: layers of varying length, a model of two layers, first passes of compiled code.
  const bool complete =
      !named.passes.empty() &&
      named.layers_in_passes + layers_of_cut_passes(sequence, named) >= named.layers;
  const bool explains_more = complete && (named.passes.size() > structural.passes.size() ||
                                          !attention_agrees(sequence, structural));
  return explains_more ? named : structural;
}

}  // namespace llmprof::analysis
