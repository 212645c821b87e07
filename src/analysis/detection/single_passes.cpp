#include <algorithm>
#include <map>

#include "analysis/detection/named_passes.h"
#include "analysis/stages/thresholds.h"
#include "analysis/statistics/statistics.h"

namespace llmprof::analysis {
namespace {

// Beats of the most frequent attention; others prepare it or belong to something else.
std::vector<LayerBeat> layers_among(const KernelSequence& sequence,
                                    std::span<const LayerBeat> beats) {
  std::map<uint32_t, size_t> times;
  for (const LayerBeat& beat : beats) {
    if (!beat.replay) ++times[sequence.name(beat.first).value];
  }
  std::vector<LayerBeat> layers(beats.begin(), beats.end());
  std::erase_if(layers, [&](const LayerBeat& beat) {
    return beat.replay || sequence.name(beat.first).value != most_frequent(times).first;
  });
  return layers;
}

bool equally_far_apart(const std::vector<LayerBeat>& layers) {
  std::map<uint32_t, size_t> distances;
  for (size_t i = 1; i < layers.size(); ++i) ++distances[layers[i].first - layers[i - 1].first];
  const size_t others = layers.size() - 1 - most_frequent(distances).second;
  return others * threshold::kSeldom <= layers.size();
}

// Whether the layers work on clearly more rows than the last per-row kernel before the vocabulary
// GEMM.
bool leaves_most_rows(const KernelSequence& sequence, const ForwardPass& pass) {
  uint32_t head = *pass.selection;
  while (head > pass.last_beat && !is_product(sequence.kernel_class(head))) --head;
  while (head > pass.last_beat && !sequence.works_by_row(head)) --head;
  std::vector<uint64_t> threads;
  for (uint32_t at = pass.first_beat; at < pass.last_beat; ++at) {
    if (sequence.works_by_row(at)) threads.push_back(sequence.threads(at));
  }
  return head > pass.last_beat && sequence.threads(head) > 0 && !threads.empty() &&
         median(std::move(threads)) >= threshold::kClearlyMore * sequence.threads(head);
}

// The last GEMM after `last_beat`, and the work launched right after it.
uint32_t end_of_vision(const KernelSequence& sequence, uint32_t last_beat, uint32_t limit) {
  uint32_t end = last_beat + 1;
  for (uint32_t at = end; at < limit; ++at) {
    if (is_product(sequence.kernel_class(at))) end = at + 1;
  }
  while (end < limit && sequence.asked(end) - sequence.asked(end - 1) < threshold::kNear) ++end;
  return end;
}

}  // namespace

std::optional<ForwardPass> find_lone_prefill(const KernelSequence& sequence,
                                             std::span<const LayerBeat> beats) {
  const std::vector<LayerBeat> layers = layers_among(sequence, beats);
  if (layers.size() < threshold::kFewestLayers || !equally_far_apart(layers)) return std::nullopt;
  ForwardPass pass;
  pass.layers = static_cast<uint32_t>(layers.size());
  pass.first_beat = layers.front().first;
  pass.last_beat = layers.back().last;
  for (uint32_t at = 0; at < pass.first_beat && !pass.embedding; ++at) {
    if (sequence.kernel_class(at) == KernelClass::gather) pass.embedding = at;
  }
  for (uint32_t at = pass.last_beat + 1; at < sequence.size(); ++at) {
    if (sequence.kernel_class(at) == KernelClass::sampling) pass.selection = at;
  }
  if (!pass.embedding || !pass.selection || !leaves_most_rows(sequence, pass)) return std::nullopt;
  pass.begin = *pass.embedding;
  pass.end = *pass.selection + 1;
  pass.start_seen = pass.end_seen = true;
  return pass;
}

std::vector<VisionPass> find_vision_passes(const KernelSequence& sequence,
                                           std::span<const LayerBeat> beats,
                                           std::span<const ForwardPass> passes) {
  std::vector<VisionPass> found;
  size_t beat = 0;
  for (size_t i = 0; i <= passes.size(); ++i) {
    uint32_t begin = i == 0 ? 0 : passes[i - 1].end;
    const auto end = i == passes.size() ? static_cast<uint32_t>(sequence.size()) : passes[i].begin;
    while (beat < beats.size() && beats[beat].first < begin) ++beat;
    const size_t first = beat;
    while (beat < beats.size() && !beats[beat].replay && beats[beat].last < end) ++beat;
    if (beat - first < threshold::kFewestLayers) continue;
    while (begin < beats[first].first && !sequence.convolution(begin)) ++begin;
    if (begin == beats[first].first) continue;
    found.push_back({begin, end_of_vision(sequence, beats[beat - 1].last, end),
                     static_cast<uint32_t>(beat - first)});
  }
  return found;
}

}  // namespace llmprof::analysis
