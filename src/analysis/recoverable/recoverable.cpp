#include "analysis/recoverable/recoverable.h"

#include <algorithm>

#include "analysis/recoverable/floors.h"

namespace llmprof::analysis {
namespace {

// What the user can act on; the stage's own reason is the more exact one.
profile::Reasons why_no_floor(const Utilization& utilization, const StageUtilization* stage) {
  if (stage != nullptr && !stage->why_not.empty()) return stage->why_not;
  if (!utilization.why_not.empty()) return utilization.why_not;
  return {make_reason(profile::ReasonKind::no_model_given)};
}

const StageUtilization* utilization_of(const Utilization& utilization, uint32_t stage) {
  for (const StageUtilization& known : utilization.stages) {
    if (known.stage == stage) return &known;
  }
  return nullptr;
}

bool has_floor(const StageUtilization* stage) {
  return stage != nullptr && stage->floor && stage->traced_share && stage->peak_flops > 0 &&
         stage->peak_bandwidth > 0;
}

// What all steps of a stage's instances generate, warm-ups left out.
struct Generated {
  double tokens = 0;  // of all sequences
  double steps = 0;
};

Generated generated_tokens(const Stages& stages, uint32_t stage, const Workload& workload) {
  const double batch = workload.batch ? static_cast<double>(workload.batch->value) : 1;
  Generated generated;
  for (const Step& step : stages.steps) {
    if (step.kind == StepKind::prefill || step.kind == StepKind::forward) continue;
    if (!step.instance.valid()) continue;
    const StageInstance& instance = stages.instances[step.instance.index()];
    if (instance.stage != stage || instance.warmup) continue;
    generated.tokens += step.batch ? static_cast<double>(*step.batch) : batch;
    ++generated.steps;
  }
  return generated;
}

StageRecoverable of_stage(const Stages& stages, const StageBudget& budget,
                          const Utilization& utilization) {
  StageRecoverable result;
  result.stage = budget.stage;
  if (budget.instances == 0) {
    result.bound_reason = {make_reason(profile::ReasonKind::all_warmup)};
    return result;
  }
  const auto count = static_cast<double>(budget.instances);
  std::array<double, kBudgetParts> mean{};
  for (size_t part = 0; part < kBudgetParts; ++part) {
    if (part == static_cast<size_t>(BudgetPart::not_traced)) continue;
    mean[part] = static_cast<double>(budget.total[part]) / count;
    result.wall += mean[part];
  }
  const Generated generated = generated_tokens(stages, budget.stage, utilization.workload);
  result.tokens = generated.tokens / count;
  result.decode_steps = generated.steps / count;

  const StageUtilization* known = utilization_of(utilization, budget.stage);
  const StageFloors floors(has_floor(known) ? known : nullptr, mean,
                           why_no_floor(utilization, known), utilization.device);
  for (size_t part = 0; part < kBudgetParts; ++part) {
    if (mean[part] <= 0) continue;
    Floor floor = floors.of(part);
    result.parts.push_back({part, mean[part], floor.time, std::move(floor.rule), kAnySaving});
  }
  if (known != nullptr && known->floor && known->traced_share) {
    result.bound = std::min(static_cast<double>(*known->floor) * *known->traced_share, result.wall);
  } else {
    result.bound_reason = why_no_floor(utilization, known);
  }
  std::stable_sort(result.parts.begin(), result.parts.end(),
                   [](const RecoverablePart& a, const RecoverablePart& b) {
                     return a.recoverable() > b.recoverable();
                   });
  return result;
}

}  // namespace

std::vector<StageRecoverable> recoverable_time(const Stages& stages, const Budgets& budgets,
                                               const Utilization& utilization) {
  std::vector<StageRecoverable> result;
  result.reserve(budgets.stages.size());
  for (const StageBudget& budget : budgets.stages) {
    result.push_back(of_stage(stages, budget, utilization));
  }
  return result;
}

void limit_to_unprofiled(const trace::Trace& trace, const Stages& stages,
                         std::vector<StageRecoverable>& recoverable) {
  constexpr double kNanosecondsPerMillisecond = 1e6;
  if (!trace.workload) return;
  for (StageRecoverable& stage : recoverable) {
    for (const auto& timing : trace.workload->stages) {
      const double unprofiled = timing.mean_ms * kNanosecondsPerMillisecond;
      const bool same = timing.name == stages.stages[stage.stage].name;
      if (!same || unprofiled <= 0 || unprofiled >= stage.wall) continue;
      const double bound = stage.bound.value_or(0);
      stage.most = unprofiled - (bound < unprofiled ? bound : 0);
      for (RecoverablePart& part : stage.parts) part.most = stage.most;
    }
  }
}

}  // namespace llmprof::analysis
