#pragma once

#include <span>
#include <vector>

#include "analysis/detection/pass_kind.h"
#include "analysis/stages/stages.h"
#include "profile/reasons.h"

namespace llmprof::analysis {

// Evidence that passes generate tokens one after the other, as an LLM does. Image, audio and
// sentence networks also run passes of equal layers.
struct TokenEvidence {
  bool convolves = false;       // most passes contain convolutions
  bool keeps_cache = false;     // most passes have kernels that keep a KV cache
  bool chooses_tokens = false;  // most passes end by choosing a token
  bool embeds_tokens = false;   // most passes start with a gather of rows
  // Most choices follow a GEMM that takes at least twice as long as the layers' GEMMs: it has a row
  // per vocabulary entry. A classifier's has only a few rows.
  bool has_vocabulary = false;
  bool one_token_each = false;  // most passes take one token per sequence that gets one
  // Mean number of consecutive decode steps after one prefill of the same model; 0: none.
  double steps_per_prefill = 0;
  double size_step = 0;  // ratio of prefill size to decode step size; 0: only one size

  [[nodiscard]] bool of_llm() const;
  // How many of these suggest an LLM.
  [[nodiscard]] int signs() const;
};

TokenEvidence find_token_evidence(const KernelSequence& sequence,
                                  std::span<const ForwardPass> passes, const PassKinds& kinds);

// Evidence for the detected stages, over all GPUs.
struct DetectionEvidence {
  uint64_t passes = 0;
  uint64_t passes_of_known_ends = 0;  // both start and end are marked
  uint64_t kernels = 0;               // in passes
  uint64_t kernels_repeating = 0;     // in passes that occur at least twice, kernel by kernel
  uint64_t layers = 0;                // attention layers and hidden passes, inside passes or not
  uint64_t layers_in_passes = 0;
  uint64_t vision_passes = 0;
  uint64_t vision_layers = 0;
  bool distinguished = true;  // prefill and decode could be compared
  bool named = true;          // kernel names show the same passes
  bool by_ranges = true;      // an engine's ranges mark all passes
  int signs_of_tokens = 0;    // TokenEvidence::signs, maximum over all GPUs
  std::vector<uint32_t> layers_a_pass;

  void add(const ForwardPasses& found, const PassKinds& kinds, const TokenEvidence& tokens);

  // From the number of five independent checks that the passes meet (docs/stages.md).
  [[nodiscard]] ConfidenceLevel level(bool of_llm) const;
  [[nodiscard]] profile::Reasons reasons(bool of_llm) const;
};

}  // namespace llmprof::analysis
