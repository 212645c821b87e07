#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "llm/cost.h"
#include "profile/steps.h"

namespace llmprof::analysis {

using profile::StepKind;

// What is said of a step's sequences that are in one phase; absent: not said. A sequence has q new
// tokens and k in all, the cached ones included.
struct PhaseBatch {
  std::optional<uint64_t> sequences;
  std::optional<uint64_t> tokens;    // sum of q ("sq" in engines' annotations)
  std::optional<uint64_t> keys;      // sum of k ("sk")
  std::optional<uint64_t> squares;   // sum of q * q ("sqsq")
  std::optional<uint64_t> products;  // sum of q * k ("sqsk")

  // All of them, where they are said and can be true.
  [[nodiscard]] std::optional<llm::SequenceSums> sums() const;

  friend bool operator==(const PhaseBatch&, const PhaseBatch&) = default;
};

struct StepBatch {
  PhaseBatch prefill;
  PhaseBatch decode;
  PhaseBatch together;  // of all sequences, where sums are not told by phase

  // Where they are known in full; a phase without sequences is.
  [[nodiscard]] std::optional<llm::MixedPass> sums() const;
  // Of both phases, where both are known.
  [[nodiscard]] std::optional<uint64_t> sequences() const;
  [[nodiscard]] std::optional<uint64_t> tokens() const;

  friend bool operator==(const StepBatch&, const StepBatch&) = default;
};

// An engine's annotation writes key=value pairs, as SGLang's "bs=2 c=1 g=1 c_sq=5 c_sk=8 ..." and
// ATOM's "bs=3 tok=16384 ctx=[8063, 7153, 1168]".
struct StepValues {
  std::optional<uint64_t> batch;   // bs; of "117/128" (padded for a graph) the first
  std::optional<uint64_t> tokens;  // tok, toks, tokens
  StepBatch phases;                // c or p, g or d; c_sq, g_sq, ...
  // Sums without a phase (sk, sqsq, sqsk): of all sequences of the step.
  PhaseBatch all;
  bool speculative = false;  // spec
};

StepValues read_step_values(std::string_view text);

// What a step is by the sequences in it, or else what it is called; none: nothing is in it, or
// nothing is known.
std::optional<StepKind> kind_of(const StepBatch& phases, std::optional<StepKind> called);

// The phases of a step of that kind with what follows: all sequences are in the one phase of a
// prefill or decode step, and each in decode has one token unless drafted ones are verified.
StepBatch completed(const StepValues& values, StepKind kind, bool speculative);

}  // namespace llmprof::analysis
