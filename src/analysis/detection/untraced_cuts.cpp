#include "analysis/detection/untraced_cuts.h"

#include <algorithm>
#include <ranges>
#include <set>

#include "analysis/detection/layer_beats.h"
#include "analysis/tracing/untraced_gpu_time.h"

namespace llmprof::analysis {
namespace {

uint32_t first_from(const KernelSequence& sequence, Nanoseconds time) {
  const auto positions = std::views::iota(0U, static_cast<uint32_t>(sequence.size()));
  const auto found = std::ranges::partition_point(
      positions, [&](uint32_t at) { return sequence.start(at) < time; });
  return static_cast<uint32_t>(found - positions.begin());
}

void end_at(uint32_t cut, ForwardPass& pass) {
  pass.end = cut;
  pass.end_seen = false;
  if (pass.selection && *pass.selection >= cut) pass.selection.reset();
  if (pass.row_gather && *pass.row_gather >= cut) pass.row_gather.reset();
}

void begin_at(uint32_t cut, ForwardPass& pass) {
  pass.begin = cut;
  pass.start_seen = false;
  if (pass.embedding && *pass.embedding < cut) pass.embedding.reset();
}

// Less than a layer lies between the pass and a time that was not traced.
bool at_an_edge(const std::vector<uint32_t>& cuts, uint32_t kernels, const ForwardPass& pass) {
  const uint32_t layer = (pass.end - pass.begin) / std::max(pass.layers, 1U);
  const auto behind = std::upper_bound(cuts.begin(), cuts.end(), pass.begin);
  const uint32_t from = behind == cuts.begin() ? 0 : *std::prev(behind);
  const uint32_t until = behind == cuts.end() ? kernels : *behind;
  return pass.begin - from < layer || until - pass.end < layer;
}

void drop_parts(uint32_t kernels, ForwardPasses& found) {
  const std::vector<uint32_t>& cuts = found.cuts;
  std::set<uint32_t> whole;
  for (const ForwardPass& pass : found.passes) {
    if (!at_an_edge(cuts, kernels, pass)) whole.insert(pass.layers);
  }
  if (whole.empty()) return;
  std::erase_if(found.passes, [&](const ForwardPass& pass) {
    if (whole.contains(pass.layers) || !at_an_edge(cuts, kernels, pass)) return false;
    found.layers_in_passes -= std::max(pass.layers, 1U);
    return true;
  });
}

}  // namespace

std::vector<uint32_t> untraced_cuts(const KernelSequence& sequence) {
  std::vector<uint32_t> cuts;
  const UntracedGpuTime untraced(sequence.trace());
  for (const UntracedGpuTime::Window& window : untraced.of(sequence.process(), sequence.device())) {
    const uint32_t cut = first_from(sequence, window.end);
    if (cut > 0 && cut < sequence.size()) cuts.push_back(cut);
  }
  return cuts;
}

void part_at_cuts(ForwardPasses& found, uint32_t kernels) {
  const std::vector<uint32_t>& cuts = found.cuts;
  if (cuts.empty() || found.passes.empty()) return;
  std::erase_if(found.passes, [&](ForwardPass& pass) {
    for (auto cut = std::upper_bound(cuts.begin(), cuts.end(), pass.begin);
         cut != cuts.end() && *cut < pass.end; ++cut) {
      if (*cut <= pass.first_beat) {
        begin_at(*cut, pass);
      } else if (*cut > pass.last_beat) {
        end_at(*cut, pass);
      } else {
        found.layers_in_passes -= std::max(pass.layers, 1U);
        return true;
      }
    }
    return false;
  });
  drop_parts(kernels, found);
  if (found.passes.empty()) {
    found.reason = "every forward pass is cut by a period in which nothing was traced";
  }
}

uint64_t layers_of_cut_passes(const KernelSequence& sequence, const ForwardPasses& found) {
  if (found.cuts.empty()) return 0;
  uint64_t cut_off = 0;
  uint32_t most = 0;
  for (const ForwardPass& pass : found.passes) most = std::max(most, pass.layers);
  const std::vector<LayerBeat> beats = find_layer_beats(sequence);
  auto beat = beats.begin();
  auto pass = found.passes.begin();
  const auto count_up_to = [&](uint32_t until) {
    const auto first = beat;
    while (beat != beats.end() && beat->first < until) ++beat;
    const auto layers = static_cast<uint64_t>(beat - first);
    if (layers < most) cut_off += layers;
  };
  for (size_t i = 0; i <= found.cuts.size(); ++i) {
    const auto until =
        i < found.cuts.size() ? found.cuts[i] : static_cast<uint32_t>(sequence.size());
    auto behind = pass;
    while (behind != found.passes.end() && behind->begin < until) ++behind;
    if (pass != behind) {
      count_up_to(pass->begin);
      while (beat != beats.end() && beat->first < std::prev(behind)->end) ++beat;
    }
    count_up_to(until);
    pass = behind;
  }
  return cut_off;
}

}  // namespace llmprof::analysis
