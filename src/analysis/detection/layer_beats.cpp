#include "analysis/detection/layer_beats.h"

#include <algorithm>
#include <unordered_map>

#include "analysis/stages/thresholds.h"

namespace llmprof::analysis {
namespace {

// Scaling, masking and casts may stand between the softmax and the products around it.
bool between_products(const KernelSequence& sequence, size_t at) {
  const auto any_product = [&](size_t begin, size_t end) {
    while (begin < end && !is_product(sequence.kernel_class(begin))) ++begin;
    return begin < end;
  };
  return any_product(at - std::min<size_t>(at, threshold::kSmallLoop), at) &&
         any_product(at + 1, std::min(sequence.size(), at + 1 + threshold::kSmallLoop));
}

// A replay stands for a whole pass where replays of one graph follow each other without attention
// in between; pieces of a pass have its attention between them.
bool replays_are_passes(const KernelSequence& sequence) {
  std::unordered_map<uint32_t, uint64_t> seen;  // graph, attention kernels before its last replay
  uint64_t attention = 0;
  uint64_t repeats = 0;
  uint64_t bare_repeats = 0;
  for (size_t i = 0; i < sequence.size(); ++i) {
    if (!sequence.replay(i)) {
      if (sequence.kernel_class(i) == KernelClass::attention) ++attention;
      continue;
    }
    const uint32_t graph = sequence.trace().graph_replays.graph[sequence.item(i).row];
    const auto [known, fresh] = seen.try_emplace(graph, attention);
    if (fresh) continue;
    ++repeats;
    if (known->second == attention) ++bare_repeats;
    known->second = attention;
  }
  return repeats > 0 && 2 * bare_repeats >= repeats;
}

// One layer's attention may be several kernels (split over the context, then joined; one for
// prefill and one for decode), with a copy or two among them.
std::vector<LayerBeat> beats_of(const KernelSequence& sequence, KernelClass wanted,
                                bool with_replays) {
  std::vector<LayerBeat> beats;
  for (uint32_t at = 0; at < sequence.size(); ++at) {
    if (sequence.replay(at)) {
      if (with_replays) beats.push_back({at, at, true});
      continue;
    }
    if (sequence.kernel_class(at) != wanted) continue;
    if (wanted == KernelClass::softmax && !between_products(sequence, at)) continue;
    const bool goes_on =
        !beats.empty() && !beats.back().replay && at - beats.back().last <= threshold::kSeveral;
    if (!goes_on) beats.push_back({at, at, false});
    beats.back().last = at;
  }
  if (std::ranges::all_of(beats, &LayerBeat::replay)) beats.clear();
  return beats;
}

}  // namespace

std::vector<LayerBeat> find_layer_beats(const KernelSequence& sequence) {
  const bool with_replays = replays_are_passes(sequence);
  const auto beats = beats_of(sequence, KernelClass::attention, with_replays);
  return beats.empty() ? beats_of(sequence, KernelClass::softmax, with_replays) : beats;
}

}  // namespace llmprof::analysis
