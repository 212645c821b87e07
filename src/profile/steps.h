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
      {mixed, "prefill and decode in one pass"},
      {forward, "a pass of a model that is not recognized as an LLM"},
  });
}

// The stages of prefill and decode passes have the names of these kinds.
inline constexpr std::string_view kPrefill = enumerator_name<StepKind::prefill>();
inline constexpr std::string_view kDecode = enumerator_name<StepKind::decode>();

// One forward pass. Sorted by instance, then start; untraced steps have no row.
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
  ByWord<KernelClass, WholeNanoseconds> classes;
  std::optional<bool> clocks_lowered;

  void fields(auto& field) const {
    field("stage", stage,
          "stage that it belongs to; stage, instance and step_of_instance are its key");
    field("instance", instance, "index among the instances of its stage, from 0");
    field("step_of_instance", step_of_instance,
          "index among the traced steps of its instance, from 0");
    field("kind", kind, "what it does for its sequences");
    field("batch", batch, "sequences in the step");
    field("tokens", tokens, "tokens that pass through its layers");
    field("prefill_sequences", prefill_sequences,
          "sequences in prefill; null if not reported by the engine");
    field("prefill_tokens", prefill_tokens,
          "tokens of sequences in prefill; null if not reported by the engine");
    field("decode_sequences", decode_sequences,
          "sequences in decode; null if not reported by the engine");
    field("decode_tokens", decode_tokens,
          "tokens of sequences in decode; null if not reported by the engine");
    field("context_tokens", context_tokens,
          "length of all its sequences together, including new tokens; null if not reported by the "
          "engine");
    field("attention_pairs", attention_pairs,
          "(query, key) pairs of causal attention in a layer without a window; null if not "
          "reported by the engine");
    field("layers", layers,
          "attention layers of a detected pass, which distinguish models; null if unknown or "
          "hidden in a CUDA graph");
    field("start_ms", start, "start, on the capture's clock");
    field("wall_ms", wall,
          "from the end of the previous step's last GPU work (or the instance's start) to the end "
          "of its own");
    field("gpu_sum_ms", gpu_sum, "time of its kernels");
    field("gpu_busy_ms", gpu_busy, "union of its GPU work");
    field("kernel_count", kernel_count, "kernels");
    field("after_untraced", after_untraced,
          "true if the previous step, or a part of this one, was not traced: wall_ms then runs "
          "from the step's own first GPU work and is excluded from statistics");
    field("dram_bytes", dram_bytes,
          "bytes read and written in that time, by the GPU's counters; null if they were off");
    field("classes_ns", classes,
          "time of its kernels by class, overlap not removed; they sum to gpu_sum_ms");
    field("clocks_lowered", clocks_lowered,
          "heat, power or hardware lowered the GPU's clocks, according to the last reading before "
          "the step's end; null if none is less than a second old");
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
  TimePart cause = TimePart::unattributed;
  std::optional<std::string> work_before;
  std::optional<std::string> work_after;
  std::optional<std::string> host;
  Reasons host_reasons;

  void fields(auto& field) const {
    field("stage", stage, "stage that it belongs to");
    field("instance", instance, "index among the instances of its stage, from 0");
    field("step", step, "index in steps");
    field("step_of_instance", step_of_instance, "index among the steps of its instance, from 0");
    field("after_start_ms", after_start, "start of the gap, after the instance's start");
    field("ms", time, "length of the gap");
    field("between_steps", between_steps, "true if it lies between the GPU work of two steps");
    field("cause", cause, "part of the budget that most of the gap belongs to");
    field("work_before", work_before,
          "short name of the kernel, or the copy, before the gap; null at the stage's edges");
    field("work_after", work_after,
          "short name of the kernel, or the copy, after the gap; null at the stage's edges");
    field("host", host, "what the host was doing");
    field("host_reasons", host_reasons, "host as kinds and values");
  }
};

struct RepeatedGap {
  std::string stage;
  uint64_t count = 0;
  Milliseconds total;
  Gap longest;

  void fields(auto& field) const {
    field("stage", stage, "stage that they belong to");
    field("count", count, "gaps at the same place of the stage");
    field("total_ms", total, "idle time in all these gaps");
    field("longest", longest, "the longest of them, as in gaps");
  }
};

struct SlowReason {
  std::string what;
  Milliseconds longer;
  Reasons what_reasons = {};

  void fields(auto& field) const {
    field("what", what, "a gap, a kernel, or the rest");
    field("longer_ms", longer, "time above the median step; negative if shorter");
    field("what_reasons", what_reasons,
          "what as kinds and values; after a gap, what the host did in it");
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

  void fields(auto& field) const {
    field("stage", stage, "stage that it belongs to");
    field("instance", instance, "index among the instances of its stage, from 0");
    field("step", step, "index in steps");
    field("step_of_instance", step_of_instance, "index among the steps of its instance, from 0");
    field("wall_ms", wall, "wall time of the step");
    field("above_median_ms", above_median, "wall time above the median of comparable steps");
    field("reasons", reasons, "reasons, longest first; they sum to above_median_ms");
  }
};

}  // namespace llmprof::profile
