#pragma once

#include <span>
#include <string>

#include "analysis/detection/forward_passes.h"
#include "analysis/detection/pass_kind.h"
#include "analysis/detection/pass_size.h"
#include "analysis/detection/token_evidence.h"

namespace llmprof::analysis {

// What speaks for the stages that were found, over all GPUs.
struct DetectionEvidence {
  uint64_t passes = 0;
  uint64_t passes_of_known_ends = 0;  // something marks both their start and their end
  uint64_t kernels = 0;               // in passes
  uint64_t kernels_repeating = 0;     // in passes that occur at least twice, kernel by kernel
  uint64_t layers = 0;                // attention layers and hidden passes, inside passes or not
  uint64_t layers_in_passes = 0;
  uint64_t vision_passes = 0;
  uint64_t vision_layers = 0;
  bool told_apart = true;   // prefill and decode could be compared
  bool named = true;        // what kernels are called shows the same passes
  bool by_ranges = true;    // an engine's ranges tell all passes
  int signs_of_tokens = 0;  // TokenEvidence::signs, the most of any GPU
  std::vector<uint32_t> layers_a_pass;

  void add(const ForwardPasses& found, std::span<const PassSize> sizes, const PassKinds& kinds,
           const TokenEvidence& tokens);
  // By how many of five independent checks the passes hold (docs/stages.md).
  [[nodiscard]] ConfidenceLevel level(bool of_llm) const;
  [[nodiscard]] std::string in_words(bool of_llm) const;
};

}  // namespace llmprof::analysis
