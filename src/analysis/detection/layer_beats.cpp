#include "analysis/detection/layer_beats.h"

#include <algorithm>
#include <unordered_map>

namespace llmprof::analysis {
namespace {

// One layer's attention may be several kernels (split over the context, then joined; one for
// prefill and one for decode), with a copy or two among them.
constexpr size_t kSameLayer = 3;
// Scaling, masking and casts between the softmax and the products around it.
constexpr size_t kProductBefore = 6;
constexpr size_t kProductBehind = 4;

bool between_products(const KernelSequence& sequence, size_t at) {
  bool before = false;
  for (size_t i = 1; i <= kProductBefore && i <= at; ++i) {
    before = before || is_product(sequence.kernel_class(at - i));
  }
  bool behind = false;
  for (size_t i = 1; i <= kProductBehind && at + i < sequence.size(); ++i) {
    behind = behind || is_product(sequence.kernel_class(at + i));
  }
  return before && behind;
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
    if (!fresh) {
      ++repeats;
      if (known->second == attention) ++bare_repeats;
      known->second = attention;
    }
  }
  return repeats > 0 && 2 * bare_repeats >= repeats;
}

std::vector<LayerBeat> beats_of(const KernelSequence& sequence, KernelClass wanted,
                                bool with_replays) {
  std::vector<LayerBeat> beats;
  for (size_t i = 0; i < sequence.size(); ++i) {
    const auto at = static_cast<uint32_t>(i);
    if (sequence.replay(i)) {
      if (with_replays) beats.push_back({at, at, true});
      continue;
    }
    if (sequence.kernel_class(i) != wanted) continue;
    if (wanted == KernelClass::softmax && !between_products(sequence, i)) continue;
    if (!beats.empty() && !beats.back().replay && i - beats.back().last <= kSameLayer) {
      beats.back().last = at;
    } else {
      beats.push_back({at, at, false});
    }
  }
  return beats;
}

bool any_layer(const std::vector<LayerBeat>& beats) {
  return std::any_of(beats.begin(), beats.end(), [](const LayerBeat& b) { return !b.replay; });
}

}  // namespace

std::vector<LayerBeat> find_layer_beats(const KernelSequence& sequence) {
  const bool with_replays = replays_are_passes(sequence);
  auto beats = beats_of(sequence, KernelClass::attention, with_replays);
  if (!any_layer(beats)) beats = beats_of(sequence, KernelClass::softmax, with_replays);
  if (!any_layer(beats)) beats.clear();
  return beats;
}

}  // namespace llmprof::analysis
