#include <algorithm>
#include <unordered_map>

#include "analysis/detection/detected_stages.h"
#include "analysis/detection/pass_kind.h"
#include "analysis/stages/thresholds.h"

namespace llmprof::analysis {
namespace {

class StepAdder {
 public:
  StepAdder(const trace::Trace& trace, Stages& stages)
      : trace_(trace), stages_(stages), of_instance_(stages.instances.size()) {
    for (const Step& step : stages.steps) of_instance_[step.instance.index()].has_steps = true;
    chosen_.kernels = choose(stages.owners.kernel_instance);
    chosen_.replays = choose(stages.owners.replay_instance);
  }

  // Work of instances without steps; nothing else is examined.
  [[nodiscard]] const ChosenWork& chosen() const { return chosen_; }
  [[nodiscard]] uint64_t added() const { return added_; }

  void look_at(const KernelSequence& sequence, std::vector<ForwardPass> passes) {
    measure_passes(sequence, passes);
    std::vector<std::pair<uint32_t, const ForwardPass*>> of_instances;
    for (const ForwardPass& pass : passes) {
      std::unordered_map<uint32_t, uint32_t> votes;
      for (uint32_t at = pass.begin; at < pass.end; ++at) ++votes[owner(sequence.item(at)).value];
      for (const auto& [instance, kernels] : votes) {
        if (2 * kernels <= pass.length()) continue;
        of_instance_[instance].in_passes += kernels;
        ++of_instance_[instance].passes;
        of_instances.emplace_back(instance, &pass);
      }
    }
    for (const auto& [instance, pass] : of_instances) {
      const OfInstance& own = of_instance_[instance];
      const bool most = static_cast<double>(own.in_passes) >=
                        threshold::kNearlyAll * static_cast<double>(own.kernels);
      // A single pass is the instance itself.
      if (most && own.passes > 1) add_step(sequence, instance, *pass);
    }
    own_memory(sequence);
  }

 private:
  struct OfInstance {
    bool has_steps = false;  // from annotations
    uint64_t kernels = 0;
    uint64_t in_passes = 0;
    uint32_t passes = 0;
  };

  // Also counts the chosen kernels.
  std::vector<char> choose(const std::vector<InstanceId>& owners) {
    std::vector<char> chosen(owners.size());
    for (size_t i = 0; i < owners.size(); ++i) {
      if (!owners[i].valid() || of_instance_[owners[i].index()].has_steps) continue;
      chosen[i] = 1;
      ++of_instance_[owners[i].index()].kernels;
    }
    return chosen;
  }

  [[nodiscard]] InstanceId owner(KernelSequence::Item item) const {
    const WorkOwners& owners = stages_.owners;
    return (item.replay ? owners.replay_instance : owners.kernel_instance)[item.row];
  }

  void add_step(const KernelSequence& sequence, uint32_t instance, const ForwardPass& pass) {
    const std::string& stage = stages_.stages[stages_.instances[instance].stage].name;
    const StepId id(stages_.steps.size());
    Step& step = stages_.steps.emplace_back();
    step.instance = InstanceId(instance);
    for (const StepKind kind : {StepKind::prefill, StepKind::mixed}) {
      if (stage == to_string(kind)) step.kind = kind;
    }
    step.tokens = pass.size.tokens;
    step.layers = pass.layers;
    step.start = sequence.start(pass.begin);
    ++added_;
    for (uint32_t at = pass.begin; at < pass.end; ++at) {
      const auto [row, replay] = sequence.item(at);
      if (owner({row, replay}) != step.instance) continue;
      (replay ? stages_.owners.replay_step : stages_.owners.kernel_step)[row] = id;
    }
    starts_[instance].emplace_back(step.start, id);
  }

  // A copy belongs to the step that started last.
  void own_memory(const KernelSequence& sequence) {
    const trace::MemoryOperationTable& memory = trace_.memory_operations;
    for (size_t i = 0; i < memory.size(); ++i) {
      const InstanceId instance = stages_.owners.memory_instance[i];
      if (!instance.valid() || !sequence.owns(memory.queue[i])) continue;
      const auto steps = starts_.find(instance.value);
      if (steps == starts_.end()) continue;
      const auto behind = std::ranges::upper_bound(steps->second, memory.start[i], {},
                                                   [](const auto& step) { return step.first; });
      stages_.owners.memory_step[i] =
          behind == steps->second.begin() ? behind->second : std::prev(behind)->second;
    }
    starts_.clear();
  }

  const trace::Trace& trace_;
  Stages& stages_;
  std::vector<OfInstance> of_instance_;
  ChosenWork chosen_;
  std::unordered_map<uint32_t, std::vector<std::pair<Nanoseconds, StepId>>> starts_;
  uint64_t added_ = 0;
};

}  // namespace

void add_detected_steps(const trace::Trace& trace, const DescribedNames& names, Stages& stages,
                        Diagnostics& diagnostics) {
  StepAdder adder(trace, stages);
  for (const KernelSequence& sequence : kernel_sequences(trace, names, &adder.chosen())) {
    ForwardPasses found = find_forward_passes(sequence);
    if (!found.passes.empty()) adder.look_at(sequence, std::move(found.passes));
  }
  if (adder.added() == 0) return;
  diagnostics.info("steps_detected",
                   "steps inside of annotated stages, found in the kernel sequence: the program "
                   "annotates none there",
                   adder.added());
}

}  // namespace llmprof::analysis
