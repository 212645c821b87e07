#include <fmt/format.h>

#include <algorithm>
#include <ranges>
#include <set>

#include "analysis/detection/forward_passes.h"
#include "analysis/stages/thresholds.h"
#include "analysis/tracing/untraced_gpu_time.h"

namespace llmprof::analysis {
namespace {

// Positions, in order, before which GPU work may be missing because our collector was detached.
std::vector<uint32_t> untraced_cuts(const KernelSequence& sequence) {
  std::vector<uint32_t> cuts;
  const UntracedGpuTime untraced(sequence.trace());
  const auto positions = std::views::iota(0U, static_cast<uint32_t>(sequence.size()));
  for (const UntracedGpuTime::Window& window : untraced.of(sequence.process(), sequence.device())) {
    const auto cut = static_cast<uint32_t>(
        std::ranges::partition_point(positions,
                                     [&](uint32_t at) { return sequence.start(at) < window.end; }) -
        positions.begin());
    if (cut > 0 && cut < sequence.size()) cuts.push_back(cut);
  }
  return cuts;
}

void drop_beyond(uint32_t begin, uint32_t end, std::optional<uint32_t>& marker) {
  if (marker && (*marker < begin || *marker >= end)) marker.reset();
}

// Whether the pass remains. Kernels beyond a cut from its layers belong to another pass; layers on
// both sides of a cut are parts of two passes.
bool survives(const std::vector<uint32_t>& cuts, ForwardPass& pass) {
  for (auto cut = std::ranges::upper_bound(cuts, pass.begin); cut != cuts.end() && *cut < pass.end;
       ++cut) {
    if (*cut <= pass.first_beat) {
      pass.begin = *cut;
      pass.start_seen = false;
      drop_beyond(*cut, UINT32_MAX, pass.embedding);
    } else if (*cut > pass.last_beat) {
      pass.end = *cut;
      pass.end_seen = false;
      drop_beyond(0, *cut, pass.selection);
      drop_beyond(0, *cut, pass.row_gather);
    } else {
      return false;
    }
  }
  return true;
}

// Splits passes where work is missing. A pass next to a cut, or at either end of the sequence, is
// also partial if no pass elsewhere has as many layers.
void part_at_cuts(const std::vector<uint32_t>& cuts, uint32_t kernels, ForwardPasses& found) {
  found.cuts = cuts;
  if (cuts.empty() || found.passes.empty()) return;
  const auto drop = [&](const auto& is_part) {
    std::erase_if(found.passes, [&](ForwardPass& pass) {
      if (!is_part(pass)) return false;
      found.layers_in_passes -= std::max(pass.layers, 1U);
      return true;
    });
  };
  drop([&](ForwardPass& pass) { return !survives(cuts, pass); });
  // Less than a layer is between the pass and an untraced period.
  const auto at_an_edge = [&](const ForwardPass& pass) {
    const uint32_t layer = pass.length() / std::max(pass.layers, 1U);
    const auto behind = std::ranges::upper_bound(cuts, pass.begin);
    const uint32_t from = behind == cuts.begin() ? 0 : *std::prev(behind);
    const uint32_t until = behind == cuts.end() ? kernels : *behind;
    return pass.begin - from < layer || until - pass.end < layer;
  };
  std::set<uint32_t> whole;
  for (const ForwardPass& pass : found.passes) {
    if (!at_an_edge(pass)) whole.insert(pass.layers);
  }
  if (!whole.empty()) {
    drop([&](const ForwardPass& pass) { return !whole.contains(pass.layers) && at_an_edge(pass); });
  }
  if (found.passes.empty()) {
    found.reason = "every forward pass is cut by a period in which nothing was traced";
  }
}

// Share of passes in which known attention, if there is any, occurs once per layer.
double attention_agrees(std::span<const LayerBeat> beats, const ForwardPasses& found) {
  size_t differing = 0;
  size_t beat = 0;
  for (const ForwardPass& pass : found.passes) {
    size_t inside = 0;
    for (; beat < beats.size() && beats[beat].first < pass.end; ++beat) {
      if (beats[beat].first >= pass.begin) ++inside;
    }
    if (inside > 0 && !pass.replay() && inside != pass.layers) ++differing;
  }
  return 1 - static_cast<double>(differing) / static_cast<double>(found.passes.size());
}

// Names may mistake a gather in the last layer for the next pass's embedding. The next pass cannot
// start before the host has read the previous pass's result.
void follow_read_backs(const KernelSequence& sequence, const ForwardPasses& structural,
                       ForwardPasses& named) {
  const std::vector<CopyToHost> reads = find_read_backs(sequence);
  for (size_t i = 0; i + 1 < named.passes.size(); ++i) {
    const ForwardPass& before = structural.passes[i];
    const ForwardPass& behind = structural.passes[i + 1];
    const uint32_t begin = named.passes[i + 1].begin;
    if (!before.end_seen || begin >= behind.begin || begin > behind.first_beat) continue;
    const auto read = read_from(reads, sequence.start(before.last_beat));
    if (read == reads.end() || read->start <= sequence.start(begin)) continue;
    if (read->start > sequence.start(behind.first_beat)) continue;
    named.passes[i].end = behind.begin;
    named.passes[i + 1].begin = behind.begin;
    named.passes[i + 1].embedding.reset();
  }
}

// The candidate with the best score; the first of equals. Ignores those without passes.
ForwardPasses best_of(std::vector<ForwardPasses> candidates) {
  std::erase_if(candidates, [](const ForwardPasses& each) { return each.passes.empty(); });
  std::ranges::stable_sort(candidates, std::ranges::greater(), &ForwardPasses::score);
  ForwardPasses& best = candidates.front();
  if (candidates.size() > 1) {
    best.alternative = {candidates[1].passes.size(), best.score - candidates[1].score};
  }
  return best;
}

}  // namespace

bool ForwardPasses::traced_since_last(size_t row) const {
  if (row == 0) return false;
  const auto cut = std::ranges::upper_bound(cuts, passes[row - 1].begin);
  return cut == cuts.end() || *cut > passes[row].begin;
}

ForwardPasses find_forward_passes(const KernelSequence& sequence, const MeaningfulRanges* ranges) {
  if (ranges != nullptr) {
    ForwardPasses marked = find_engine_passes(sequence, *ranges);
    if (!marked.passes.empty()) return marked;
  }
  const auto kernels = static_cast<uint32_t>(sequence.size());
  const std::vector<uint32_t> cuts = untraced_cuts(sequence);
  const std::vector<LayerBeat> beats = find_layer_beats(sequence);
  ForwardPasses structural = find_structural_passes(sequence);
  part_at_cuts(cuts, kernels, structural);
  if (structural.training) return structural;
  ForwardPasses named = find_named_passes(sequence, beats);
  part_at_cuts(cuts, kernels, named);
  if (structural.passes.empty()) {
    // A loss also has a softmax between GEMMs.
    if (named.attention_by_softmax && !named.passes.empty()) {
      named.reason = fmt::format("a softmax runs between two GEMMs {} times, but {}", named.layers,
                                 structural.reason);
      named.passes.clear();
      named.vision.clear();
    }
    return named;
  }
  if (named.passes.size() == structural.passes.size()) {
    named.basis = ForwardPasses::Basis::both;
    follow_read_backs(sequence, structural, named);
    return named;
  }
  // Both show passes, but different numbers. Structural passes contain everything that repeats;
  // named passes explain attention by passes of equal layers. Named passes explain more if they
  // cover all attention and the repeats are not these layers, or not in all passes (layers of
  // varying length, a model of two layers, first passes of compiled code).
  if (!named.passes.empty()) {
    named.score = static_cast<double>(named.layers_in_passes) / static_cast<double>(named.layers);
    if (named.layers_in_passes == named.layers) {
      structural.score =
          std::min(1.0, attention_agrees(beats, structural) + threshold::kSmallPart) *
          std::min(1.0, static_cast<double>(structural.passes.size()) /
                            static_cast<double>(named.passes.size()));
    }
  }
  return best_of({std::move(structural), std::move(named)});
}

}  // namespace llmprof::analysis
