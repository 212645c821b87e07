#include "analysis/stages/cut_off.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>

namespace llmprof::analysis {
namespace {

// A part has at most this share of the kernels that the others agree on.
constexpr double kPartOfKernels = 0.97;
constexpr size_t kFewestOthers = 2;

// Where a process's work on a GPU begins and ends: the instance that owns it, if any does.
struct Edges {
  std::optional<size_t> first_kernel;
  std::optional<size_t> last_kernel;
};

using GpuOfProcess = std::pair<trace::ProcessId, trace::DeviceId>;

std::map<GpuOfProcess, Edges> edges_of(const trace::Trace& trace) {
  std::map<GpuOfProcess, Edges> edges;
  std::vector<Edges*> of_queue(trace.queues.size(), nullptr);
  for (size_t i = 0; i < trace.kernels.size(); ++i) {
    Edges*& known = of_queue[trace.kernels.queue[i].index()];
    if (known == nullptr) {
      const trace::Queue& queue = trace.queues[trace.kernels.queue[i]];
      known = &edges[{queue.process, queue.device}];
    }
    if (!known->first_kernel) known->first_kernel = i;
    known->last_kernel = i;
  }
  return edges;
}

class CutOff {
 public:
  explicit CutOff(const Stages& stages) : stages_(stages) {}

  [[nodiscard]] bool at_start(size_t row) const { return few_kernels(row); }
  [[nodiscard]] bool at_end(size_t row) const {
    const StageInstance& instance = stages_.instances[row];
    if (instance.open_ended && !others(row).empty()) return true;
    return few_kernels(row) || few_steps(row);
  }

 private:
  [[nodiscard]] std::vector<const StageInstance*> others(size_t row) const {
    const StageInstance& instance = stages_.instances[row];
    std::vector<const StageInstance*> found;
    for (size_t i = 0; i < stages_.instances.size(); ++i) {
      const StageInstance& other = stages_.instances[i];
      if (i == row || other.stage != instance.stage || other.warmup) continue;
      if (other.device != instance.device || other.process != instance.process) continue;
      found.push_back(&other);
    }
    return found;
  }

  // Per step, where there are some: a decode of fewer steps is not cut for that alone.
  static double kernels_per_step(const StageInstance& instance) {
    return static_cast<double>(instance.work.kernel_count) /
           static_cast<double>(std::max(instance.step_count, 1U));
  }

  // All the others have the same number of kernels, and this one fewer.
  [[nodiscard]] bool few_kernels(size_t row) const {
    const auto others_of_stage = others(row);
    if (others_of_stage.size() < kFewestOthers) return false;
    const double usual = kernels_per_step(*others_of_stage.front());
    for (const StageInstance* other : others_of_stage) {
      const double kernels = kernels_per_step(*other);
      if (kernels < usual * kPartOfKernels || usual < kernels * kPartOfKernels) return false;
    }
    return kernels_per_step(stages_.instances[row]) < usual * kPartOfKernels;
  }

  [[nodiscard]] bool few_steps(size_t row) const {
    const auto others_of_stage = others(row);
    if (others_of_stage.size() < kFewestOthers) return false;
    const uint32_t usual = others_of_stage.front()->all_steps();
    const bool agree =
        std::all_of(others_of_stage.begin(), others_of_stage.end(),
                    [&](const StageInstance* other) { return other->all_steps() == usual; });
    return agree && stages_.instances[row].all_steps() < usual;
  }

  const Stages& stages_;
};

}  // namespace

void flag_cut_off(const trace::Trace& trace, Stages& stages, Diagnostics& diagnostics) {
  const CutOff cut(stages);
  std::vector<size_t> at_start;
  std::vector<size_t> at_end;
  for (const auto& [gpu, edges] : edges_of(trace)) {
    const InstanceId first = stages.owners.kernel_instance[*edges.first_kernel];
    const InstanceId last = stages.owners.kernel_instance[*edges.last_kernel];
    if (first == last) continue;
    const auto steady = [&](InstanceId id) {
      return id.valid() && !stages.instances[id.index()].warmup;
    };
    if (steady(first) && cut.at_start(first.index())) at_start.push_back(first.index());
    if (steady(last) && cut.at_end(last.index())) at_end.push_back(last.index());
  }
  const auto exclude = [&](const std::vector<size_t>& rows, std::string_view what) {
    for (const size_t row : rows) stages.instances[row].warmup = true;
    if (rows.empty()) return;
    const StageInstance& instance = stages.instances[rows.front()];
    diagnostics.warn(
        "stage_cut_off",
        fmt::format("the {} instance of {} {} ({} steps, {} kernels); it is excluded "
                    "from the statistics",
                    &rows == &at_start ? "first" : "last", stages.stages[instance.stage].name, what,
                    instance.all_steps(), instance.work.kernel_count),
        rows.size());
  };
  exclude(at_start, "had begun before recording did");
  exclude(at_end, "is cut off by the end of the capture");
}

}  // namespace llmprof::analysis
