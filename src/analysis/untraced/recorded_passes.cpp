#include <algorithm>

#include "analysis/stages/thresholds.h"
#include "analysis/tracing/untraced_gpu_time.h"
#include "analysis/untraced/launch_passes.h"

namespace llmprof::analysis {
namespace {

constexpr uint32_t kNoPass = UINT32_MAX;

// Numbers passes: a step by its row, an instance without steps after all steps.
class PassNumbers {
 public:
  explicit PassNumbers(const Stages& stages) : stages_(stages) {
    for (const StageInstance& instance : stages.instances) {
      if (!device_.valid()) device_ = instance.device;
    }
  }

  [[nodiscard]] uint32_t of(InstanceId instance, StepId step) const {
    if (!instance.valid() || stages_.instances[instance.index()].device != device_) return kNoPass;
    if (step.valid()) return step.value;
    if (stages_.instances[instance.index()].step_count > 0) return kNoPass;
    return static_cast<uint32_t>(stages_.steps.size()) + instance.value;
  }
  [[nodiscard]] InstanceId instance(uint32_t number) const {
    if (number < stages_.steps.size()) return stages_.steps[number].instance;
    return InstanceId(number - stages_.steps.size());
  }
  [[nodiscard]] size_t count() const { return stages_.steps.size() + stages_.instances.size(); }

 private:
  const Stages& stages_;
  // Only one GPU of a program is examined: its passes represent all.
  trace::DeviceId device_;
};

// The pass whose work each call launched.
std::vector<uint32_t> passes_of_calls(const trace::Trace& trace, const Stages& stages,
                                      const PassNumbers& numbers) {
  std::vector<uint32_t> passes(trace.launches.size(), kNoPass);
  const auto add = [&](const auto& table, const auto& instances, const auto& steps) {
    for (size_t i = 0; i < table.size(); ++i) {
      if (i >= table.launch.size() || !table.launch[i].valid()) continue;
      const uint32_t number = numbers.of(instances[i], steps[i]);
      if (number != kNoPass) passes[table.launch[i].index()] = number;
    }
  };
  add(trace.kernels, stages.owners.kernel_instance, stages.owners.kernel_step);
  add(trace.graph_replays, stages.owners.replay_instance, stages.owners.replay_step);
  return passes;
}

// The pass of each launch in the sequence. The interceptor notes a launch just before the traced
// call; traced calls without a note come from libraries with their own CUDA runtime.
std::vector<uint32_t> passes_of_launches(const trace::Trace& trace, const LaunchSequence& sequence,
                                         const std::vector<uint32_t>& of_calls) {
  const trace::LaunchTable& calls = trace.launches;
  std::vector<std::pair<Nanoseconds, uint32_t>> launching;  // start, pass
  for (size_t i = 0; i < calls.size(); ++i) {
    const trace::ApiKind kind = trace.api_kind(calls.api[i]);
    const bool launches = kind == trace::ApiKind::launch || kind == trace::ApiKind::graph_launch;
    if (launches && calls.thread[i] == sequence.thread) {
      launching.emplace_back(calls.start[i], of_calls[i]);
    }
  }
  const auto start = [](const auto& call) { return call.first; };
  std::ranges::stable_sort(launching, {}, start);
  std::vector<uint32_t> passes(sequence.size(), kNoPass);
  for (size_t i = 0; i < sequence.size(); ++i) {
    const auto next = std::ranges::lower_bound(launching, sequence.start[i], {}, start);
    const Nanoseconds until = i + 1 < sequence.size() ? sequence.start[i + 1] : trace::kOpenEnd;
    if (next != launching.end() && next->first < until) passes[i] = next->second;
  }
  return passes;
}

// Whether passes are complete, or cut by a tracing window that started or ended within them.
class WindowEdges {
 public:
  WindowEdges(const trace::Trace& trace, const LaunchSequence& sequence,
              const std::vector<uint32_t>& of_launches)
      : sequence_(sequence),
        of_launches_(of_launches),
        periods_(trace),
        process_(trace.threads[sequence.thread.index()].process) {}

  // `has_its_layers`: its layers were counted, and it has as many as others.
  [[nodiscard]] bool cut(const LaunchPass& pass, bool has_its_layers) const {
    const size_t much = has_its_layers ? (pass.end - pass.first) / threshold::kQuarter : SIZE_MAX;
    return cut_beyond(pass.first, 0, much, [](size_t i) { return i - 1; }) ||
           cut_beyond(pass.end, sequence_.size(), much, [](size_t i) { return i; });
  }

 private:
  // Launches outside passes may be an unrecognized part of the pass itself. If the pass has all its
  // layers, more than `much` such launches belong to another pass, which the window cut. Launches
  // that the program waited for also belong to another pass, unless many launches are in between.
  // `next(i)`: the launch beyond i - 1 or i.
  template <class Next>
  [[nodiscard]] bool cut_beyond(size_t edge, size_t limit, size_t much, const Next& next) const {
    for (size_t i = edge, gone = 0; i != limit; ++gone, i = i < limit ? i + 1 : i - 1) {
      const size_t launch = next(i);
      if (of_launches_[launch] != kNoPass || gone > much) return false;
      if (gone <= threshold::kBetweenPasses && waited_before(i)) return false;
      if (untraced(launch)) return true;
    }
    return false;
  }
  [[nodiscard]] bool untraced(size_t launch) const {
    return !periods_.traced_at(process_, sequence_.start[launch]);
  }
  // For the GPU, between the previous launch and this one.
  [[nodiscard]] bool waited_before(size_t launch) const {
    const auto wait = sequence_.first_wait_from(sequence_.start[launch - 1]);
    return wait != sequence_.waits.end() && wait->end <= sequence_.start[launch];
  }

  const LaunchSequence& sequence_;
  const std::vector<uint32_t>& of_launches_;
  TracingPeriods periods_;
  trace::ProcessId process_;
};

// Captured launches right before the pass, in no other pass and within the instance: what a program
// captures long before (an engine starting up) does not belong to the first pass.
size_t launches_without_work(const LaunchSequence& sequence,
                             const std::vector<uint32_t>& of_launches, size_t first,
                             Nanoseconds from) {
  if (sequence.without_work.empty()) return 0;
  const auto is_lead = [&](size_t launch) {
    return sequence.without_work[launch] && of_launches[launch] == kNoPass &&
           sequence.start[launch] >= from;
  };
  size_t lead = 0;
  while (lead < first && is_lead(first - lead - 1)) ++lead;
  return lead;
}

}  // namespace

std::vector<LaunchPass> recorded_passes(const trace::Trace& trace, const Stages& stages,
                                        const LaunchSequence& sequence) {
  const PassNumbers numbers(stages);
  const std::vector<uint32_t> of_launches =
      passes_of_launches(trace, sequence, passes_of_calls(trace, stages, numbers));
  struct Recorded : LaunchPass {
    bool has_its_layers = false;
  };
  std::vector<Recorded> passes(numbers.count());
  for (size_t i = 0; i < of_launches.size(); ++i) {
    if (of_launches[i] == kNoPass) continue;
    Recorded& pass = passes[of_launches[i]];
    if (pass.end == 0) pass.first = i;
    pass.end = i + 1;
  }
  for (uint32_t number = 0; number < passes.size(); ++number) {
    Recorded& pass = passes[number];
    pass.instance = numbers.instance(number);
    const StageInstance& instance = stages.instances[pass.instance.index()];
    pass.stage = instance.stage;
    pass.has_its_layers = number < stages.steps.size() && stages.steps[number].layers > 0;
    pass.lead = launches_without_work(sequence, of_launches, pass.first, instance.start);
  }
  std::erase_if(passes, [](const Recorded& pass) { return pass.end == 0; });
  std::ranges::sort(passes, {}, &LaunchPass::first);
  const WindowEdges edges(trace, sequence, of_launches);
  std::vector<LaunchPass> whole;
  for (const Recorded& pass : passes) {
    if (!whole.empty() && pass.first < whole.back().end) continue;
    if (!edges.cut(pass, pass.has_its_layers)) whole.push_back(pass);
  }
  return whole;
}

}  // namespace llmprof::analysis
