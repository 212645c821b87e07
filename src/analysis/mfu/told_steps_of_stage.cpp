#include "analysis/mfu/told_steps_of_stage.h"

#include <span>

namespace llmprof::analysis {
namespace {

// A detected decode step has one token per sequence; of an engine's, whose annotation counts its
// sequences but not their tokens, it is not known (drafted tokens are verified).
std::optional<uint64_t> tokens_of(const Step& step) {
  if (step.tokens) return step.tokens;
  const bool one_each = step.kind == StepKind::decode && !step.phases.decode.sequences;
  return one_each ? step.batch : std::nullopt;
}

uint64_t positions_with_logits(const Step& step, uint64_t tokens) {
  if (step.kind == StepKind::decode) return tokens;
  return step.batch.value_or(1);
}

}  // namespace

StepsOfStage steps_of_stage(const Stages& stages, uint32_t stage) {
  StepsOfStage found;
  for (const StageInstance& instance : stages.instances) {
    if (instance.warmup || instance.stage != stage) continue;
    ++found.instances;
    for (const Step& step :
         std::span(stages.steps).subspan(instance.first_step, instance.step_count)) {
      ++found.all;
      const auto tokens = tokens_of(step);
      if (!tokens || *tokens == 0) continue;
      ++found.with_tokens;
      found.tokens += *tokens;
      ToldStep& told = found.steps.emplace_back();
      told.tokens = *tokens;
      told.positions_with_logits = positions_with_logits(step, *tokens);
      told.sequences = step.phases.sums();
      if (!told.sequences) continue;
      ++found.with_contexts;
      found.keys += told.sequences->prefill.keys + told.sequences->decode.keys;
    }
  }
  return found;
}

}  // namespace llmprof::analysis
