#pragma once

#include <optional>
#include <span>
#include <vector>

#include "analysis/requests/host_waits.h"
#include "analysis/stages/stages.h"

namespace llmprof::analysis {

// A forward pass of a batch.
struct BatchPass {
  uint32_t step = 0;  // row of Stages::steps
  StepKind kind = StepKind::decode;
  Nanoseconds start = 0;  // of its first GPU work
  Nanoseconds end = 0;    // of its last
  Nanoseconds busy = 0;   // union of its GPU work
  // Sequences that get a token; 0 if the host does not read its results; none: unknown. With
  // prompts, an annotated pass may give fewer: those that continue are counted.
  std::optional<uint64_t> rows;
  std::optional<uint64_t> tokens;         // that pass through its layers
  std::optional<uint64_t> prompt_tokens;  // of them, those of prompts; none: not annotated
  bool replayed = false;                  // by a CUDA graph
  uint64_t launches = 0;                  // equal for equal kernels of equal shapes; 0: unknown

  [[nodiscard]] bool takes_prompts() const { return kind != StepKind::decode; }
};

// Passes that together give each of their sequences one token (speculative decoding: several). An
// engine may split a batch into several passes; it ends with the one whose results the host waits
// for.
struct EngineBatch {
  Nanoseconds begin = 0;  // start of its first pass
  BatchEnd end;
  std::optional<Nanoseconds> caches_moved;  // last time before the first pass's end
  uint32_t first_pass = 0;                  // rows of EngineBatches::passes
  uint32_t passes = 0;
  uint32_t window = 0;  // number of recording windows that somebody had opened before it
  bool after_untraced = false;
  bool warmup = false;
};

// The batches of an engine, in order. Several ranks of a job run the same batches: those of the
// GPU with the most steps.
struct EngineBatches {
  GpuOfProcess gpu;
  std::vector<BatchPass> passes;
  std::vector<EngineBatch> batches;
  bool by_waits = false;  // batches end where the host waits; otherwise each step is one

  [[nodiscard]] std::span<const BatchPass> passes_of(const EngineBatch& batch) const {
    return std::span(passes).subspan(batch.first_pass, batch.passes);
  }
  // None if a pass does not show how many sequences get a token.
  [[nodiscard]] std::optional<uint64_t> rows_of(const EngineBatch& batch) const;
};

// Batches by the host's waits for results, if the kernel sequence shows the steps and the capture
// has the host's calls. Otherwise each step is a batch, as in engines that annotate their steps.
EngineBatches engine_batches(const trace::Trace& trace, const Stages& stages);

}  // namespace llmprof::analysis
