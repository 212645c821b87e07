#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "profile/kernels.h"
#include "profile/quantity.h"
#include "profile/reasons.h"
#include "profile/vocabulary.h"

namespace llmprof::profile {

enum class StepKind : uint8_t { prefill, decode, mixed, forward };
constexpr auto words_of(StepKind /*of*/) {
  using enum StepKind;
  return vocabulary<StepKind>({
      {prefill, "prefill", ""},
      {decode, "decode", ""},
      {mixed, "mixed", "prefill and decode in one pass"},
      {forward, "forward", "of a model that is not known to generate tokens"},
  });
}

// One forward pass. By instance, then start; steps that were not traced have no row.
struct Step {
  std::string stage;
  uint64_t instance = 0;
  uint64_t step_of_instance = 0;
  StepKind kind = StepKind::mixed;
  std::optional<uint64_t> batch;
  std::optional<uint64_t> tokens;
  std::optional<uint64_t> prefill_sequences;
  std::optional<uint64_t> prefill_tokens;
  std::optional<uint64_t> decode_sequences;
  std::optional<uint64_t> decode_tokens;
  std::optional<uint64_t> context_tokens;
  std::optional<uint64_t> attention_pairs;
  std::optional<uint64_t> layers;
  Milliseconds start;
  Milliseconds wall;
  Milliseconds gpu_sum;
  Milliseconds gpu_busy;
  uint64_t kernel_count = 0;
  bool after_untraced = false;
  std::optional<Bytes> dram_bytes;
  ByName<WholeNanoseconds> classes;
  std::optional<bool> clocks_lowered;

  static void fields(auto& field) {
    field("stage", &Step::stage, "where it belongs; with instance and step_of_instance its key");
    field("instance", &Step::instance, "from 0 among those of its stage");
    field("step_of_instance", &Step::step_of_instance,
          "from 0 among the traced steps of its instance");
    field("kind", &Step::kind, "what it does for its sequences");
    field("batch", &Step::batch, "sequences in it");
    field("tokens", &Step::tokens, "that pass through its layers");
    field("prefill_sequences", &Step::prefill_sequences,
          "of batch, those in prefill; null where the engine does not tell");
    field("prefill_tokens", &Step::prefill_tokens, "of tokens, theirs; likewise");
    field("decode_sequences", &Step::decode_sequences, "of batch, those in decode; likewise");
    field("decode_tokens", &Step::decode_tokens, "of tokens, theirs; likewise");
    field("context_tokens", &Step::context_tokens,
          "lengths of all its sequences together, new tokens included; null where the engine does "
          "not tell");
    field("attention_pairs", &Step::attention_pairs,
          "(query, key) pairs of causal attention in a layer without a window; likewise");
    field("layers", &Step::layers,
          "attention layers of a detected pass, which tell models apart; null if not known or "
          "hidden in a CUDA graph");
    field("start_ms", &Step::start, "on the capture's clock");
    field("wall_ms", &Step::wall,
          "from the end of the previous step's last GPU work (or the instance's start) to the end "
          "of its own");
    field("gpu_sum_ms", &Step::gpu_sum, "time of its kernels");
    field("gpu_busy_ms", &Step::gpu_busy, "union of its GPU work");
    field("kernel_count", &Step::kernel_count, "kernels");
    field(
        "after_untraced", &Step::after_untraced,
        "the step before, or a part of this one, was not traced: wall_ms runs from the step's own "
        "first GPU work, and is in no statistics");
    field("dram_bytes", &Step::dram_bytes,
          "read and written in that time, by the GPU's counters; null where they were off");
    field("classes_ns", &Step::classes,
          "time of its kernels by class, overlap not removed; they sum to gpu_sum_ms");
    field("clocks_lowered", &Step::clocks_lowered,
          "heat, power or hardware lowered the GPU's clocks, by the last reading before the step's "
          "end; null where no reading is less than a second older");
  }
};

struct Gap {
  std::string stage;
  uint64_t instance = 0;
  std::optional<uint64_t> step;
  std::optional<uint64_t> step_of_instance;
  Milliseconds after_start;
  Milliseconds time;
  bool between_steps = false;
  std::string cause;
  std::optional<std::string> work_before;
  std::optional<std::string> work_after;
  std::optional<std::string> host;
  Reasons host_reasons;

  static void fields(auto& field) {
    field("stage", &Gap::stage, "where it belongs");
    field("instance", &Gap::instance, "from 0 among those of its stage");
    field("step", &Gap::step, "row of steps");
    field("step_of_instance", &Gap::step_of_instance, "from 0 among the steps of its instance");
    field("after_start_ms", &Gap::after_start, "from the instance's start");
    field("ms", &Gap::time, "its length");
    field("between_steps", &Gap::between_steps, "from one step's GPU work to another's");
    field("cause", &Gap::cause, "a part of the budget: the largest part of the gap");
    field("work_before", &Gap::work_before,
          "a kernel's short name, a copy; null at the stage's edges");
    field("work_after", &Gap::work_after, "likewise");
    field("host", &Gap::host, "what the host was in");
    field("host_reasons", &Gap::host_reasons, "host as kinds and values");
  }
};

struct RepeatedGap {
  std::string stage;
  uint64_t count = 0;
  Milliseconds total;
  Gap longest;

  static void fields(auto& field) {
    field("stage", &RepeatedGap::stage, "where they belong");
    field("count", &RepeatedGap::count, "gaps at the same place of the stage");
    field("total_ms", &RepeatedGap::total, "idle time in all of them");
    field("longest", &RepeatedGap::longest, "as in gaps");
  }
};

struct SlowReason {
  std::string what;
  Milliseconds longer;
  Reasons what_reasons = {};

  static void fields(auto& field) {
    field("what", &SlowReason::what, "a gap, a kernel, or the rest");
    field("longer_ms", &SlowReason::longer, "than in the median step");
    field("what_reasons", &SlowReason::what_reasons,
          "what as kinds and values; behind a gap, what the host did in it");
  }
};

struct SlowStep {
  std::string stage;
  uint64_t instance = 0;
  uint64_t step = 0;
  uint64_t step_of_instance = 0;
  Milliseconds wall;
  Milliseconds above_median;
  std::vector<SlowReason> reasons;

  static void fields(auto& field) {
    field("stage", &SlowStep::stage, "where it belongs");
    field("instance", &SlowStep::instance, "from 0 among those of its stage");
    field("step", &SlowStep::step, "row of steps");
    field("step_of_instance", &SlowStep::step_of_instance,
          "from 0 among the steps of its instance");
    field("wall_ms", &SlowStep::wall, "its wall time");
    field("above_median_ms", &SlowStep::above_median, "longer than the median step like it");
    field("reasons", &SlowStep::reasons, "longest first; they sum to above_median_ms");
  }
};

}  // namespace llmprof::profile
