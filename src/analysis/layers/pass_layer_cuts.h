#pragma once

#include <span>
#include <unordered_map>
#include <vector>

#include "analysis/naming/described_names.h"
#include "trace/trace.h"

namespace llmprof::analysis {

// Where the layers of forward passes begin, by what repeats in their kernel names (layer_cuts).
// Passes repeat: each distinct sequence is looked at once.
class PassLayerCuts {
 public:
  PassLayerCuts(const trace::Trace& trace, const DescribedNames& names)
      : trace_(trace), names_(names) {}

  // `kernels` are rows of Trace::kernels. Empty where no layers repeat.
  const std::vector<size_t>& of(std::span<const uint32_t> kernels);

 private:
  const trace::Trace& trace_;
  const DescribedNames& names_;
  std::unordered_map<size_t, std::vector<size_t>> known_;
};

}  // namespace llmprof::analysis
