#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
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

// What an engine's annotation says about a step.
struct StepValues {
  std::optional<uint64_t> batch;
  std::optional<uint64_t> tokens;
  StepBatch phases;
  PhaseBatch all;  // sums over all sequences of the step, of either phase
  bool speculative = false;

  // The number with one of kStepValues as its name; null for other names, and for lists and flags.
  std::optional<uint64_t>* find(std::string_view name);
};

// conf/stages.yaml explains them.
inline constexpr std::array<std::string_view, 17> kStepValues = {"batch",
                                                                 "tokens",
                                                                 "lengths",
                                                                 "drafted",
                                                                 "context",
                                                                 "context_tokens",
                                                                 "context_sk",
                                                                 "context_sqsq",
                                                                 "context_sqsk",
                                                                 "generation",
                                                                 "generation_tokens",
                                                                 "generation_sk",
                                                                 "generation_sqsq",
                                                                 "generation_sqsk",
                                                                 "all_sk",
                                                                 "all_sqsq",
                                                                 "all_sqsk"};

// The names in kStepValues of an engine's own keys.
using StepKeys = std::map<std::string, std::string, std::less<>>;

// Reads key=value pairs: "bs=3 tok=16384 ctx=[8063, 7153, 1168]".
StepValues read_step_values(std::string_view text, const StepKeys& keys);

// The kind of a step by its sequences, otherwise by its name; none if it is empty or unknown.
std::optional<StepKind> kind_of(const StepBatch& phases, std::optional<StepKind> called);

// The phases of a step of that kind, completed: all sequences of a prefill or decode step are in
// one phase, and each in decode has one token unless drafts are verified.
StepBatch completed(const StepValues& values, StepKind kind, bool speculative);

}  // namespace llmprof::analysis
