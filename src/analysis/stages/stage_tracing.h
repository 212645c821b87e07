#pragma once

#include <optional>

#include "analysis/stages/stages.h"
#include "base/diagnostics.h"

namespace llmprof::analysis {

// How much of a stage our collector traced, over instances that are not warm-up.
struct StageTracing {
  uint64_t steps_traced = 0;
  uint64_t steps_all = 0;
  Nanoseconds untraced = 0;  // wall time in which GPUs may have worked unseen
  // Traced share of the stage's GPU work, by steps, since they are alike. None if unknown.
  std::optional<double> share = 1;

  [[nodiscard]] bool whole() const { return share && *share == 1; }
};

StageTracing stage_tracing(const Stages& stages, uint32_t stage);

// Reports which figures cover only the traced steps.
void report_untraced(const Stages& stages, Diagnostics& diagnostics);

}  // namespace llmprof::analysis
