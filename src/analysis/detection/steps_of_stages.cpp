#include "analysis/detection/steps_of_stages.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "analysis/detection/find_passes.h"
#include "analysis/detection/pass_size.h"

namespace llmprof::analysis {
namespace {

// Share of an instance's kernels that its passes must hold.
constexpr double kMostOfIt = 0.8;

struct PassOfInstance {
  uint32_t instance = 0;
  uint32_t begin = 0;  // positions of the sequence
  uint32_t end = 0;
  uint32_t layers = 0;
  std::optional<uint64_t> tokens;
};

class StepAdder {
 public:
  StepAdder(const trace::Trace& trace, Stages& stages)
      : trace_(trace),
        stages_(stages),
        has_steps_(stages.instances.size(), false),
        kernels_(stages.instances.size(), 0),
        in_passes_(stages.instances.size(), 0),
        passes_in_(stages.instances.size(), 0) {
    for (const Step& step : stages.steps) has_steps_[step.instance.index()] = true;
    chosen_.kernels = choose(stages.owners.kernel_instance);
    chosen_.replays = choose(stages.owners.replay_instance);
  }

  void look_at(const KernelSequence& sequence, const ForwardPasses& found) {
    const std::vector<PassSize> sizes = measure_passes(sequence, found.passes);
    for (size_t i = 0; i < found.passes.size(); ++i) {
      const ForwardPass& pass = found.passes[i];
      std::unordered_map<uint32_t, uint32_t> votes;
      for (uint32_t at = pass.begin; at < pass.end; ++at) {
        ++votes[owner(sequence.item(at)).value];
      }
      for (const auto& [instance, kernels] : votes) {
        if (2 * kernels <= pass.end - pass.begin) continue;
        in_passes_[instance] += kernels;
        ++passes_in_[instance];
        passes_.push_back({instance, pass.begin, pass.end, pass.layers, sizes[i].tokens});
      }
    }
    add_steps(sequence);
  }

  // What belongs to an instance that has no steps: nothing else is looked at.
  [[nodiscard]] const ChosenWork& chosen() const { return chosen_; }

  [[nodiscard]] uint64_t added() const { return added_; }

 private:
  // Counts it, too.
  std::vector<char> choose(const std::vector<InstanceId>& owners) {
    std::vector<char> chosen(owners.size());
    for (size_t i = 0; i < owners.size(); ++i) {
      if (!owners[i].valid() || has_steps_[owners[i].index()]) continue;
      chosen[i] = 1;
      ++kernels_[owners[i].index()];
    }
    return chosen;
  }

  [[nodiscard]] InstanceId owner(KernelSequence::Item item) const {
    const WorkOwners& owners = stages_.owners;
    return (item.replay ? owners.replay_instance : owners.kernel_instance)[item.row];
  }

  void add_steps(const KernelSequence& sequence) {
    for (const PassOfInstance& pass : passes_) {
      const bool most = static_cast<double>(in_passes_[pass.instance]) >=
                        kMostOfIt * static_cast<double>(kernels_[pass.instance]);
      // One pass alone is the instance itself.
      if (!most || passes_in_[pass.instance] < 2) continue;
      add_step(sequence, pass);
    }
    passes_.clear();
    own_memory(sequence);
  }

  void add_step(const KernelSequence& sequence, const PassOfInstance& pass) {
    const StageInstance& instance = stages_.instances[pass.instance];
    const std::string& stage = stages_.stages[instance.stage].name;
    Step step;
    step.instance = InstanceId(pass.instance);
    step.kind = stage == to_string(StepKind::prefill) ? StepKind::prefill
                : stage == to_string(StepKind::mixed) ? StepKind::mixed
                                                      : StepKind::decode;
    step.tokens = pass.tokens;
    step.layers = pass.layers;
    step.start = sequence.start(pass.begin);
    const StepId id(stages_.steps.size());
    stages_.steps.push_back(step);
    ++added_;
    for (uint32_t at = pass.begin; at < pass.end; ++at) {
      const auto [row, replay] = sequence.item(at);
      if (owner({row, replay}) != step.instance) continue;
      (replay ? stages_.owners.replay_step : stages_.owners.kernel_step)[row] = id;
    }
    starts_[pass.instance].emplace_back(step.start, id);
  }

  // A copy belongs to the step that had begun last.
  void own_memory(const KernelSequence& sequence) {
    const trace::MemoryOperationTable& memory = trace_.memory_operations;
    for (size_t i = 0; i < memory.size(); ++i) {
      const InstanceId instance = stages_.owners.memory_instance[i];
      const trace::Queue& queue = trace_.queues[memory.queue[i]];
      if (!instance.valid() || queue.process != sequence.process() ||
          queue.device != sequence.device()) {
        continue;
      }
      const auto steps = starts_.find(instance.value);
      if (steps == starts_.end()) continue;
      const auto behind =
          std::upper_bound(steps->second.begin(), steps->second.end(), memory.start[i],
                           [](Nanoseconds time, const auto& step) { return time < step.first; });
      stages_.owners.memory_step[i] =
          behind == steps->second.begin() ? behind->second : std::prev(behind)->second;
    }
    starts_.clear();
  }

  const trace::Trace& trace_;
  Stages& stages_;
  std::vector<bool> has_steps_;  // by instance, as annotated
  std::vector<uint64_t> kernels_;
  ChosenWork chosen_;
  std::vector<uint64_t> in_passes_;
  std::vector<uint32_t> passes_in_;
  std::vector<PassOfInstance> passes_;
  std::unordered_map<uint32_t, std::vector<std::pair<Nanoseconds, StepId>>> starts_;
  uint64_t added_ = 0;
};

}  // namespace

void add_detected_steps(const trace::Trace& trace, const DescribedNames& names, Stages& stages,
                        Diagnostics& diagnostics) {
  StepAdder adder(trace, stages);
  for (const KernelSequence& sequence : kernel_sequences(trace, names, &adder.chosen())) {
    const ForwardPasses found = find_forward_passes(sequence);
    if (!found.passes.empty()) adder.look_at(sequence, found);
  }
  if (adder.added() == 0) return;
  diagnostics.info("steps_detected",
                   "steps inside of annotated stages, found in the kernel sequence: the program "
                   "annotates none there",
                   adder.added());
}

}  // namespace llmprof::analysis
