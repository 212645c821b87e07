#pragma once

#include <optional>
#include <span>
#include <vector>

#include "analysis/detection/pass_size.h"
#include "analysis/stages/stages.h"

namespace llmprof::analysis {

struct PassKind {
  StepKind kind = StepKind::decode;
  std::optional<uint64_t> batch;
  std::optional<uint64_t> tokens;
};

struct PassKinds {
  std::vector<PassKind> passes;  // one each
  bool serving = false;          // the passes are an engine's steps
  bool speculative = false;      // a model's passes verify what another's proposed
  bool told_apart = false;       // tokens are known, or there are passes of both sizes to compare
  // From the largest of a model's smaller passes to the smallest of its larger ones; 0: one size.
  double size_step = 0;
};

// A decode step takes one token of each sequence through the layers, a prefill more; one that takes
// along the sequences of the step before is mixed. Where grids do not tell the tokens, the larger
// passes of a model are its prefills. Where all are alike, those of more than one token are taken
// for prefills, and those of unknown tokens for decode steps if they repeat.
PassKinds tell_kinds(const KernelSequence& sequence, std::span<const ForwardPass> passes,
                     std::span<const PassSize> sizes);

}  // namespace llmprof::analysis
