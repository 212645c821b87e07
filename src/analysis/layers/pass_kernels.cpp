#include "analysis/layers/pass_kernels.h"

namespace llmprof::analysis {

PassKernels::PassKernels(const trace::Trace& trace, const Stages& stages) {
  using PassId = trace::Id<struct PassKind>;
  std::vector<PassId> of_instance(stages.instances.size());
  std::vector<PassId> of_step(stages.steps.size());
  const std::string_view decode = to_string(StepKind::decode);
  for (size_t i = 0; i < stages.instances.size(); ++i) {
    const StageInstance& instance = stages.instances[i];
    if (instance.warmup) continue;
    if (instance.step_count == 0) of_instance[i] = PassId(stage_.size());
    for (uint32_t s = 0; s < instance.step_count; ++s) {
      of_step[instance.first_step + s] = PassId(stage_.size() + s);
      model_.push_back(stages.steps[instance.first_step + s].layers);
    }
    const size_t passes = instance.step_count == 0 ? 1 : instance.step_count;
    stage_.insert(stage_.end(), passes, instance.stage);
    model_.resize(stage_.size(), 0);
    undivided_.insert(undivided_.end(), passes,
                      instance.step_count == 0 && stages.stages[instance.stage].name == decode);
  }

  // Counts first, then places. Work outside an instance's steps is in no pass.
  const WorkOwners& owners = stages.owners;
  const auto pass_of = [&](size_t kernel) {
    if (owners.kernel_step[kernel].valid()) return of_step[owners.kernel_step[kernel].index()];
    if (!owners.kernel_instance[kernel].valid()) return PassId();
    return of_instance[owners.kernel_instance[kernel].index()];
  };
  first_.assign(stage_.size() + 1, 0);
  const size_t kernels = stages.instances.empty() ? 0 : trace.kernels.size();
  for (size_t i = 0; i < kernels; ++i) {
    if (const PassId pass = pass_of(i); pass.valid()) ++first_[pass.index() + 1];
  }
  for (size_t i = 1; i < first_.size(); ++i) first_[i] += first_[i - 1];
  rows_.resize(first_.back());
  std::vector<size_t> next(first_.begin(), first_.end() - 1);
  for (size_t i = 0; i < kernels; ++i) {
    if (const PassId pass = pass_of(i); pass.valid()) {
      rows_[next[pass.index()]++] = static_cast<uint32_t>(i);
    }
  }
}

}  // namespace llmprof::analysis
