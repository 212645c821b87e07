#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "llm/cost.h"
#include "profile/steps.h"

namespace llmprof::analysis {

using profile::StepKind;

// Known sums over a step's sequences in one phase; absent: unknown. A sequence has q new tokens and
// k in total, including cached ones.
struct PhaseBatch {
  std::optional<uint64_t> sequences;
  std::optional<uint64_t> tokens;    // sum of q ("sq" in engines' annotations)
  std::optional<uint64_t> keys;      // sum of k ("sk")
  std::optional<uint64_t> squares;   // sum of q * q ("sqsq")
  std::optional<uint64_t> products;  // sum of q * k ("sqsk")

  // All sums, if they are known and plausible.
  [[nodiscard]] std::optional<llm::SequenceSums> sums() const;

  friend bool operator==(const PhaseBatch&, const PhaseBatch&) = default;
};

struct StepBatch {
  PhaseBatch prefill;
  PhaseBatch decode;
  PhaseBatch together;  // of all sequences, if sums are not given by phase

  // None unless all are known; a phase without sequences counts as known.
  [[nodiscard]] std::optional<llm::MixedPass> sums() const;
  // Of both phases, if both are known.
  [[nodiscard]] std::optional<uint64_t> sequences() const;
  [[nodiscard]] std::optional<uint64_t> tokens() const;

  friend bool operator==(const StepBatch&, const StepBatch&) = default;
};

// An engine's annotation has key=value pairs, like SGLang's "bs=2 c=1 g=1 c_sq=5 c_sk=8 ..." and
// ATOM's "bs=3 tok=16384 ctx=[8063, 7153, 1168]".
struct StepValues {
  std::optional<uint64_t> batch;   // bs; for "117/128" (padded for a graph) the first number
  std::optional<uint64_t> tokens;  // tok, toks, tokens
  StepBatch phases;                // c or p, g or d; c_sq, g_sq, ...
  // Sums without a phase (sk, sqsq, sqsk): over all sequences of the step.
  PhaseBatch all;
  bool speculative = false;  // spec
};

StepValues read_step_values(std::string_view text);

// The kind of a step by its sequences, otherwise by its name; none if it is empty or unknown.
std::optional<StepKind> kind_of(const StepBatch& phases, std::optional<StepKind> called);

// The phases of a step of that kind, completed: all sequences of a prefill or decode step are in
// one phase, and each in decode has one token unless drafts are verified.
StepBatch completed(const StepValues& values, StepKind kind, bool speculative);

}  // namespace llmprof::analysis
