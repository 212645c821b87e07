#pragma once

#include <span>
#include <vector>

#include "analysis/detection/forward_passes.h"

namespace llmprof::analysis {

// Fills ForwardPass::size.
void measure_passes(const KernelSequence& sequence, std::span<ForwardPass> passes);

// How many times as much work each pass is as the smallest of its model, without knowing what any
// kernel does: by the threads of the kernels that both run, or, where they share hardly any, by
// kernel time. 0 for a hidden pass.
std::vector<double> relative_sizes(const KernelSequence& sequence,
                                   std::span<const ForwardPass> passes);

// What the kinds of all passes of a sequence say together.
struct PassKinds {
  bool serving = false;      // the passes are an engine's steps
  bool speculative = false;  // a model's passes verify what another's proposed
  bool told_apart = false;   // tokens are known, or there are passes of both sizes to compare
  // From the largest of a model's smaller passes to the smallest of its larger ones; 0: one size.
  double size_step = 0;
};

// Sets the kind and batch of each. A decode step takes one token of each sequence through the
// layers, a prefill more; one that takes along the sequences of the step before is mixed. Where
// grids do not tell the tokens, the larger passes of a model are its prefills. Where all are alike,
// those of more than one token are taken for prefills, and those of unknown tokens for decode steps
// if they repeat.
PassKinds tell_kinds(const KernelSequence& sequence, std::span<ForwardPass> passes);

}  // namespace llmprof::analysis
