#include "analysis/detection/lone_prefill.h"

#include <algorithm>
#include <map>
#include <vector>

namespace llmprof::analysis {
namespace {

constexpr size_t kLayersOfAModel = 4;
// One distance between two layers in so many may be another.
constexpr size_t kOtherDistances = 8;
// Threads in the layers over those behind them.
constexpr uint64_t kManyMoreRows = 2;

// Those of the attention that occurs most often; others prepare it, or belong to something else.
std::vector<LayerBeat> layers_among(const KernelSequence& sequence,
                                    std::span<const LayerBeat> beats) {
  std::map<uint32_t, size_t> times;
  for (const LayerBeat& beat : beats) {
    if (!beat.replay) ++times[sequence.name(beat.first).value];
  }
  std::vector<LayerBeat> layers;
  if (times.empty()) return layers;
  const uint32_t most = std::max_element(times.begin(), times.end(), [](auto& a, auto& b) {
                          return a.second < b.second;
                        })->first;
  for (const LayerBeat& beat : beats) {
    if (!beat.replay && sequence.name(beat.first).value == most) layers.push_back(beat);
  }
  return layers;
}

bool equally_far_apart(const std::vector<LayerBeat>& layers) {
  std::map<uint32_t, size_t> distances;
  for (size_t i = 1; i < layers.size(); ++i) ++distances[layers[i].first - layers[i - 1].first];
  const auto usual = std::max_element(distances.begin(), distances.end(),
                                      [](auto& a, auto& b) { return a.second < b.second; });
  return (layers.size() - 1 - usual->second) * kOtherDistances <= layers.size();
}

// The middle one of those that work by row; 0: there is none.
uint64_t threads_in_layers(const KernelSequence& sequence, const ForwardPass& pass) {
  std::vector<uint64_t> threads;
  for (uint32_t at = pass.first_beat; at < pass.last_beat; ++at) {
    if (sequence.works_by_row(at)) threads.push_back(sequence.threads(at));
  }
  if (threads.empty()) return 0;
  const auto middle = threads.begin() + static_cast<std::ptrdiff_t>(threads.size() / 2);
  std::nth_element(threads.begin(), middle, threads.end());
  return *middle;
}

// Of the last kernel that works by row before the product with the vocabulary; 0: there is none.
uint64_t threads_before_head(const KernelSequence& sequence, const ForwardPass& pass) {
  uint32_t at = *pass.selection;
  while (at > pass.last_beat && !is_product(sequence.kernel_class(at))) --at;
  while (at > pass.last_beat && !sequence.works_by_row(at)) --at;
  return at > pass.last_beat ? sequence.threads(at) : 0;
}

}  // namespace

std::optional<ForwardPass> find_lone_prefill(const KernelSequence& sequence,
                                             std::span<const LayerBeat> beats) {
  const std::vector<LayerBeat> layers = layers_among(sequence, beats);
  if (layers.size() < kLayersOfAModel || !equally_far_apart(layers)) return std::nullopt;
  ForwardPass pass;
  pass.layers = static_cast<uint32_t>(layers.size());
  pass.first_beat = layers.front().first;
  pass.last_beat = layers.back().last;
  for (uint32_t at = 0; at < pass.first_beat && !pass.embedding; ++at) {
    if (sequence.kernel_class(at) == KernelClass::gather) pass.embedding = at;
  }
  const auto size = static_cast<uint32_t>(sequence.size());
  for (uint32_t at = pass.last_beat + 1; at < size; ++at) {
    if (sequence.kernel_class(at) == KernelClass::sampling) pass.selection = at;
  }
  if (!pass.embedding || !pass.selection) return std::nullopt;
  const uint64_t last_rows = threads_before_head(sequence, pass);
  if (last_rows == 0 || threads_in_layers(sequence, pass) < kManyMoreRows * last_rows) {
    return std::nullopt;
  }
  pass.begin = *pass.embedding;
  pass.end = *pass.selection + 1;
  pass.start_seen = pass.end_seen = true;
  return pass;
}

}  // namespace llmprof::analysis
