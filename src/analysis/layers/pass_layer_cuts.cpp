#include "analysis/layers/pass_layer_cuts.h"

#include "analysis/layers/layer_cuts.h"

namespace llmprof::analysis {

const std::vector<size_t>& PassLayerCuts::of(std::span<const uint32_t> kernels) {
  std::vector<uint32_t> tokens(kernels.size());
  size_t hash = kernels.size();
  for (size_t i = 0; i < kernels.size(); ++i) {
    tokens[i] = trace_.kernels.name[kernels[i]].value;
    hash = trace::hash_mix(hash, tokens[i]);
  }
  const auto [known, fresh] = known_.try_emplace(hash);
  if (fresh) {
    KernelSequence sequence(trace_, names_, {}, {});
    for (const uint32_t kernel : kernels) sequence.add({kernel, false});
    known->second = layer_cuts(tokens, find_layer_beats(sequence), find_layer_period(tokens));
  }
  return known->second;
}

}  // namespace llmprof::analysis
