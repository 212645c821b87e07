#include "analysis/budget/slow_steps.h"
#include "analysis/result/parts.h"
#include "analysis/stages/instance_numbers.h"
#include "analysis/statistics/statistics.h"

namespace llmprof::analysis::result {
namespace {

class Places {
 public:
  explicit Places(const Stages& stages) : stages_(stages), in_stage_(numbers_in_stage(stages)) {}

  [[nodiscard]] std::string stage(InstanceId instance) const {
    return to_printable(stages_.stages[of(instance).stage].name);
  }
  [[nodiscard]] uint64_t in_stage(InstanceId instance) const { return in_stage_[instance.index()]; }
  [[nodiscard]] uint64_t in_instance(StepId step, InstanceId instance) const {
    return step.index() - of(instance).first_step;
  }
  [[nodiscard]] const StageInstance& of(InstanceId instance) const {
    return stages_.instances[instance.index()];
  }

 private:
  const Stages& stages_;
  std::vector<uint64_t> in_stage_;  // by instance: its index within its stage
};

profile::Gap gap(const Prepared& in, const Places& places, const IdleGap& from) {
  profile::Gap gap;
  gap.stage = places.stage(from.instance);
  gap.instance = places.in_stage(from.instance);
  if (const StepId step = from.step(); step.valid()) {
    gap.step = step.index();
    gap.step_of_instance = places.in_instance(step, from.instance);
  }
  gap.after_start = to_milliseconds(from.start - places.of(from.instance).start);
  gap.time = to_milliseconds(from.length());
  gap.between_steps = from.between_steps();
  gap.cause = budget_part(static_cast<size_t>(from.cause), in.device);
  gap.work_before = unless_empty(from.work_before);
  gap.work_after = unless_empty(from.work_after);
  gap.host_reasons = {from.host};
  return gap;
}

}  // namespace

std::vector<profile::Step> steps(const Stages& stages, const Counters& counters,
                                 const ClassesOfWork& classes) {
  const Places places(stages);
  const auto& dram_bytes = counters.step_bytes;
  const auto& slowed = counters.step_slowed;
  std::vector<profile::Step> rows;
  rows.reserve(stages.steps.size());
  for (size_t row = 0; row < stages.steps.size(); ++row) {
    const Step& from = stages.steps[row];
    profile::Step& step = rows.emplace_back();
    step.stage = places.stage(from.instance);
    step.instance = places.in_stage(from.instance);
    step.step_of_instance = places.in_instance(StepId(row), from.instance);
    step.kind = from.kind;
    step.batch = from.batch;
    step.tokens = from.tokens;
    step.prefill_sequences = from.phases.prefill.sequences;
    step.prefill_tokens = from.phases.prefill.tokens;
    step.decode_sequences = from.phases.decode.sequences;
    step.decode_tokens = from.phases.decode.tokens;
    if (const auto sums = from.phases.sums()) {
      step.context_tokens = sums->prefill.keys + sums->decode.keys;
      step.attention_pairs =
          static_cast<uint64_t>(llm::causal_pairs(sums->prefill) + llm::causal_pairs(sums->decode));
    }
    step.layers = unless_zero<uint64_t>(from.layers);
    step.start = to_milliseconds(from.start);
    step.wall = to_milliseconds(from.wall());
    step.gpu_sum = to_milliseconds(from.work.kernel_sum);
    step.gpu_busy = to_milliseconds(from.work.busy);
    step.kernel_count = from.work.kernel_count;
    step.after_untraced = from.after_untraced;
    if (row < dram_bytes.size()) step.dram_bytes = quantity<profile::Bytes>(dram_bytes[row]);
    if (row < classes.steps.size()) step.classes = by_class(classes.steps[row]);
    if (row < slowed.size()) step.clocks_lowered = slowed[row];
  }
  return rows;
}

std::tuple<std::vector<profile::Gap>, std::vector<profile::RepeatedGap>> gaps(
    const Prepared& in, const Stages& stages, const Budgets& budgets) {
  const Places places(stages);
  std::vector<profile::Gap> single;
  single.reserve(budgets.gaps.size());
  for (const IdleGap& from : budgets.gaps) single.push_back(gap(in, places, from));
  std::vector<profile::RepeatedGap> repeated;
  for (const RepeatedIdleGap& from : budgets.repeated_gaps) {
    profile::Gap longest = gap(in, places, from.longest);
    repeated.push_back({longest.stage, from.count, to_milliseconds(from.total), longest});
  }
  return {std::move(single), std::move(repeated)};
}

std::tuple<std::vector<profile::SlowStep>, profile::Reasons> slow_steps(const Stages& stages,
                                                                        const Budgets& budgets) {
  return {budgets.slow_steps, stages.steps.empty() ? profile::Reasons() : slow_step_rule()};
}

}  // namespace llmprof::analysis::result
