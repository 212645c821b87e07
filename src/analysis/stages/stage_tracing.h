#pragma once

#include <optional>

#include "analysis/stages/stages.h"
#include "base/diagnostics.h"

namespace llmprof::analysis {

// How much of a stage our collector traced, over instances that are not warm-up.
struct StageTracing {
  uint64_t steps_traced = 0;
  uint64_t steps_all = 0;
  Nanoseconds untraced = 0;  // of the wall time: GPUs may have worked unseen
  // Of the stage's GPU work: by steps, since they are alike. None where it cannot be told.
  std::optional<double> share = 1;

  [[nodiscard]] bool whole() const { return share && *share == 1; }
};

StageTracing stage_tracing(const Stages& stages, uint32_t stage);

// Says which figures are of the traced steps alone.
void report_untraced(const Stages& stages, Diagnostics& diagnostics);

}  // namespace llmprof::analysis
