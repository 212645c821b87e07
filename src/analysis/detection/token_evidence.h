#pragma once

#include <span>

#include "analysis/detection/pass_kind.h"
#include "analysis/detection/pass_size.h"

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
                                  std::span<const ForwardPass> passes,
                                  std::span<const PassSize> sizes, const PassKinds& kinds);

}  // namespace llmprof::analysis
