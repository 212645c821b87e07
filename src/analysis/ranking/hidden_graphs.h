#pragma once

#include <optional>
#include <string>

#include "analysis/ranking/totals.h"
#include "trace/trace.h"

namespace llmprof::analysis {

// CUDA-graph replays whose kernels the capture does not show: a ranking without them is a part of
// the truth, and says so.
struct HiddenGraphs {
  uint64_t replays = 0;
  Nanoseconds time = 0;     // of the replays as wholes
  double share = 0;         // of the time of kernels and replays together, 0 to 1
  std::string launched_in;  // the outermost range most of them were launched in; empty: none
  std::string message;      // for people: what is missing, how much, how to capture it
};

std::optional<HiddenGraphs> find_hidden_graphs(const trace::Trace& trace, const Totals& totals);

}  // namespace llmprof::analysis
