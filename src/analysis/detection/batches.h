#pragma once

#include <optional>
#include <vector>

#include "analysis/stages/stages.h"

namespace llmprof::analysis {

// The host had the results of a batch, and had chosen the last of its tokens.
struct Awaited {
  Nanoseconds results = 0;
  Nanoseconds chosen = 0;
};

// Passes of one batch: an engine gives every sequence in it one token. It may take several passes,
// and ends with the one whose results the host waits for.
struct PassBatch {
  Nanoseconds begin = 0;                    // of its first pass
  std::optional<Nanoseconds> caches_moved;  // the last time before that pass's end
  Awaited awaited;
  uint64_t passes = 0;
  uint64_t first_tokens = 0;  // of prompts
  uint64_t next_tokens = 0;   // of sequences that had one before
  bool takes_prompts = false;
  bool after_untraced = false;
  bool warmup = false;

  [[nodiscard]] uint64_t rows() const { return first_tokens + next_tokens; }
};

// Batches of the GPU that most steps ran on, in order, by the part of the time that they begin in:
// `parts` has the starts of all but the first. Empty where passes do not tell which sequences get a
// token. Those of one rank are those of its job.
std::vector<std::vector<PassBatch>> find_batches(const trace::Trace& trace, const Stages& stages,
                                                 const std::vector<Nanoseconds>& parts);

// The GPU that most steps ran on. There is a step.
std::pair<trace::ProcessId, trace::DeviceId> busiest_gpu(const Stages& stages);

}  // namespace llmprof::analysis
