#pragma once

#include <set>
#include <span>
#include <string>

#include "analysis/detection/pass_kind.h"
#include "analysis/stages/stages.h"

namespace llmprof::analysis {

// What shows that passes generate tokens, one after the other, as those of an LLM do. Networks for
// images, sound or sentences run passes of equal layers as well.
struct TokenEvidence {
  bool convolves = false;       // most passes hold convolutions
  bool keeps_cache = false;     // kernels of most passes keep the keys and values of sequences
  bool chooses_tokens = false;  // most passes end with the choice of a token
  bool embeds_tokens = false;   // most passes begin with a gather of rows
  // Before most choices stands a product that takes twice as long as those of the layers, or
  // longer: with the rows of a vocabulary. That of a classifier has a few.
  bool has_vocabulary = false;
  bool one_token_each = false;  // most passes take as many tokens as sequences get one
  // Decode steps that follow each other behind one prefill of the same model, mean; 0: none do.
  double steps_per_prefill = 0;
  double size_step = 0;  // from its decode steps to its prefills; 0: they have one size

  [[nodiscard]] bool of_llm() const;
  // How many of these speak for an LLM.
  [[nodiscard]] int signs() const;
};

TokenEvidence find_token_evidence(const KernelSequence& sequence,
                                  std::span<const ForwardPass> passes, const PassKinds& kinds);

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

  void add(const ForwardPasses& found, const PassKinds& kinds, const TokenEvidence& tokens);

  // By how many of five independent checks the passes hold (docs/stages.md).
  [[nodiscard]] ConfidenceLevel level(bool of_llm) const;
  [[nodiscard]] std::string in_words(bool of_llm) const;
};

}  // namespace llmprof::analysis
