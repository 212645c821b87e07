#pragma once

#include <optional>
#include <span>
#include <vector>

#include "analysis/detection/pass_size.h"
#include "analysis/stages/stages.h"

namespace llmprof {

struct PassKind {
  StepKind kind = StepKind::decode;
  std::optional<uint64_t> batch;
  std::optional<uint64_t> tokens;
};

struct PassKinds {
  std::vector<PassKind> passes;  // one each
  bool serving = false;          // the passes are an engine's steps
  bool told_apart = false;       // there are passes of different sizes to compare
};

// A decode step takes one token of each sequence through the layers, a prefill more; one that takes
// along the sequences of the step before is mixed. Where grids do not tell the tokens, the larger
// passes of a model are its prefills; where all are alike, they are decode steps if they repeat.
PassKinds tell_kinds(const KernelSequence& sequence, std::span<const ForwardPass> passes,
                     std::span<const PassSize> sizes);

}  // namespace llmprof
