#include "analysis/stages/cut_off.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/text.h"

namespace llmprof::analysis {
namespace {

// A part has at most this share of the kernels that the others agree on.
constexpr double kPartOfKernels = 0.97;
constexpr size_t kFewestOthers = 2;

// The instances that a process's work on a GPU begins and ends with, and how many kernels before
// and behind them are in no instance: of a pass that was cut, if stages were detected.
struct Edges {
  InstanceId first;
  InstanceId last;
  uint64_t before = 0;
  uint64_t behind = 0;
};

using GpuOfProcess = std::pair<trace::ProcessId, trace::DeviceId>;

std::map<GpuOfProcess, Edges> edges_of(const trace::Trace& trace, const Stages& stages) {
  std::map<GpuOfProcess, Edges> edges;
  std::vector<Edges*> of_queue(trace.queues.size(), nullptr);
  for (size_t i = 0; i < trace.kernels.size(); ++i) {
    Edges*& known = of_queue[trace.kernels.queue[i].index()];
    if (known == nullptr) {
      const trace::Queue& queue = trace.queues[trace.kernels.queue[i]];
      known = &edges[{queue.process, queue.device}];
    }
    const InstanceId owner = stages.owners.kernel_instance[i];
    if (owner.valid()) {
      if (!known->first.valid()) known->first = owner;
      known->last = owner;
      known->behind = 0;
    } else {
      ++(known->first.valid() ? known->behind : known->before);
    }
  }
  return edges;
}

class CutOff {
 public:
  explicit CutOff(const Stages& stages) : stages_(stages) {}

  [[nodiscard]] bool at_start(size_t row) const { return few_kernels(row); }
  [[nodiscard]] bool is_the_only_one(size_t row) const { return others(row, false).empty(); }
  [[nodiscard]] bool at_end(size_t row) const {
    const StageInstance& instance = stages_.instances[row];
    if (instance.open_ended) return true;
    return few_kernels(row) || few_steps(row);
  }

 private:
  using Instances = std::vector<const StageInstance*>;

  [[nodiscard]] Instances others(size_t row, bool with_warmup) const {
    const StageInstance& instance = stages_.instances[row];
    Instances found;
    for (size_t i = 0; i < stages_.instances.size(); ++i) {
      const StageInstance& other = stages_.instances[i];
      if (i == row || other.stage != instance.stage || (other.warmup && !with_warmup)) continue;
      if (other.device != instance.device || other.process != instance.process) continue;
      found.push_back(&other);
    }
    return found;
  }
  // What it is held against; a warm-up's work is that of the others, if not its time.
  [[nodiscard]] Instances comparable(size_t row) const {
    Instances found = others(row, false);
    return found.size() < kFewestOthers ? others(row, true) : found;
  }

  // Per step, where there are some: a decode of fewer steps is not cut for that alone.
  static double kernels_per_step(const StageInstance& instance) {
    return static_cast<double>(instance.work.kernel_count) /
           static_cast<double>(std::max(instance.step_count, 1U));
  }

  // All the others have the same number of kernels, and this one fewer.
  [[nodiscard]] bool few_kernels(size_t row) const {
    const Instances with = comparable(row);
    if (with.size() < kFewestOthers) return false;
    const double usual = kernels_per_step(*with.front());
    for (const StageInstance* other : with) {
      const double kernels = kernels_per_step(*other);
      if (kernels < usual * kPartOfKernels || usual < kernels * kPartOfKernels) return false;
    }
    return kernels_per_step(stages_.instances[row]) < usual * kPartOfKernels;
  }

  // Warm-up may have fewer; none has more than the others agree on.
  [[nodiscard]] bool few_steps(size_t row) const {
    const Instances with = comparable(row);
    uint32_t most = 0;
    for (const StageInstance* other : with) most = std::max(most, other->all_steps());
    const auto agree = std::count_if(with.begin(), with.end(), [&](const StageInstance* other) {
      return other->all_steps() == most;
    });
    const bool all_do = std::all_of(with.begin(), with.end(), [&](const StageInstance* other) {
      return other->warmup || other->all_steps() == most;
    });
    return static_cast<size_t>(agree) >= kFewestOthers && all_do &&
           stages_.instances[row].all_steps() < most;
  }

  const Stages& stages_;
};

}  // namespace

void flag_cut_off(const trace::Trace& trace, Stages& stages, Diagnostics& diagnostics) {
  const CutOff cut(stages);
  std::vector<size_t> at_start;
  std::vector<size_t> at_end;
  for (const auto& [gpu, edges] : edges_of(trace, stages)) {
    if (!edges.first.valid() || edges.first == edges.last) continue;
    const auto at_the_edge = [&](InstanceId id, uint64_t kernels) {
      const StageInstance& instance = stages.instances[id.index()];
      if (instance.warmup) return false;
      const bool detected = stages.stages[instance.stage].source == StageSource::detected;
      const uint64_t a_pass = instance.work.kernel_count / std::max(instance.step_count, 1U);
      return kernels == 0 || (detected && kernels < a_pass);
    };
    if (at_the_edge(edges.first, edges.before) && cut.at_start(edges.first.index())) {
      at_start.push_back(edges.first.index());
    }
    if (at_the_edge(edges.last, edges.behind) && cut.at_end(edges.last.index())) {
      at_end.push_back(edges.last.index());
    }
  }
  const auto exclude = [&](const std::vector<size_t>& rows, std::string_view what) {
    if (rows.empty()) return;
    const StageInstance& instance = stages.instances[rows.front()];
    const bool only = cut.is_the_only_one(rows.front());
    diagnostics.warn(
        "stage_cut_off",
        fmt::format("the {} instance of {} {} ({}, {}); {}", &rows == &at_start ? "first" : "last",
                    stages.stages[instance.stage].name, what, counted(instance.all_steps(), "step"),
                    counted(instance.work.kernel_count, "kernel"),
                    only ? "there is no whole one: the stage's times are of a part"
                         : "it is excluded from the statistics"),
        rows.size());
    // A stage that has nothing else keeps it.
    for (const size_t row : rows) {
      if (cut.is_the_only_one(row)) continue;
      stages.instances[row].warmup = true;
      stages.instances[row].why_warmup = WarmupReason::cut_off;
    }
  };
  exclude(at_start, "had begun before recording did");
  exclude(at_end, "is cut off by the end of the capture");
}

}  // namespace llmprof::analysis
