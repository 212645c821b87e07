#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "analysis/stages/stages.h"
#include "llm/sequence_sums.h"

namespace llmprof::analysis {

// What is known of the size of one step of a serving engine.
struct ToldStep {
  uint64_t tokens = 0;
  uint64_t positions_with_logits = 0;
  std::optional<llm::MixedPass> sequences;  // with their contexts, where the engine tells them
};

// The steps of a stage's instances that are not warm-up.
struct StepsOfStage {
  uint64_t instances = 0;
  uint64_t all = 0;
  uint64_t with_tokens = 0;
  uint64_t with_contexts = 0;
  uint64_t tokens = 0;          // of those with tokens
  uint64_t keys = 0;            // contexts of those with contexts, new tokens included
  std::vector<ToldStep> steps;  // those with tokens
};

StepsOfStage steps_of_stage(const Stages& stages, uint32_t stage);

}  // namespace llmprof::analysis
