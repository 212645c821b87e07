#include "analysis/budget/budget.h"

#include <algorithm>

#include "analysis/budget/charge_once.h"
#include "analysis/budget/gpu_timeline.h"
#include "analysis/budget/idle_causes.h"
#include "analysis/budget/longest_gaps.h"
#include "analysis/budget/slow_steps.h"

namespace llmprof {
namespace {

constexpr auto kHiddenGraphs = static_cast<size_t>(BudgetPart::hidden_graphs);
constexpr auto kUnattributed = static_cast<size_t>(BudgetPart::unattributed);

// How far an instance has been charged.
struct Progress {
  bool begun = false;
  Nanoseconds until = 0;  // the end of its GPU work so far
  GpuWorkRow last;        // that ends there
  ChargeOnce charge;
};

class Sweep {
 public:
  Sweep(const Trace& trace, const Stages& stages, const DescribedNames& names, Budgets& budgets)
      : trace_(trace),
        stages_(stages),
        budgets_(budgets),
        busy_(busy_devices(trace, stages.owners)),
        causes_(trace, busy_),
        part_of_name_(trace.strings.size(), kUnknownPart),
        names_(names),
        launched_(trace.launches.size(), false),
        progress_(stages.instances.size()),
        gaps_(stages.stages.size()) {}

  void add(const GpuWorkRow& work) {
    charge(work);
    if (work.launch.valid()) launched_[work.launch.index()] = true;
  }

  // What remains of each instance behind its last GPU work.
  void finish() {
    for (size_t i = 0; i < stages_.instances.size(); ++i) {
      const StageInstance& instance = stages_.instances[i];
      PartTimes& times = budgets_.instances[i];
      Progress& progress = progress_[i];
      if (!progress.begun) {
        times[kUnattributed] += std::max<Nanoseconds>(0, instance.wall());
        continue;
      }
      progress.charge.finish(times);
      GapFound gap = gap_at(InstanceId(i), progress.until, instance.end);
      gap.before = progress.last;
      gap.has_before = true;
      settle(gap, causes_.at_edge(instance.device, gap.start, gap.end),
             BudgetPart::idle_after_last);
    }
  }

  [[nodiscard]] const LongestGaps& gaps() const { return gaps_; }
  IdleCauses& causes() { return causes_; }

 private:
  static constexpr uint8_t kUnknownPart = UINT8_MAX;

  void charge(const GpuWorkRow& work) {
    if (!work.instance.valid()) return;
    const StageInstance& instance = stages_.instances[work.instance.index()];
    if (trace_.queues[work.queue].device != instance.device) return;
    const Nanoseconds start = std::max(work.start, instance.start);
    const Nanoseconds end = std::min(work.end, instance.end);
    if (end < start) return;  // outside of the instance's time

    Progress& progress = progress_[work.instance.index()];
    if (!progress.begun) {
      GapFound gap = gap_at(work.instance, instance.start, start);
      gap.after = work;
      gap.has_after = true;
      gap.step = work.step;
      settle(gap, causes_.at_edge(instance.device, gap.start, gap.end),
             BudgetPart::idle_before_first);
    } else if (start > progress.until) {
      settle_between(progress, work, start);
    }
    charge_part(progress.charge, work, start, end, budgets_.instances[work.instance.index()]);
    if (!progress.begun || end >= progress.until) {
      progress.until = end;
      progress.last = work;
    }
    progress.begun = true;
  }

  void charge_part(ChargeOnce& charge, const GpuWorkRow& work, Nanoseconds start, Nanoseconds end,
                   PartTimes& times) {
    if (work.kind == GpuWorkKind::memory_operation) return charge.memory(start, end, times);
    if (work.kind == GpuWorkKind::graph_replay) {
      return charge.kernel(start, end, kHiddenGraphs, times);
    }
    const size_t part = part_of(trace_.kernels.name[work.row]);
    if (part == static_cast<size_t>(KernelClass::communication)) {
      return charge.communication(start, end, times);
    }
    charge.kernel(start, end, part, times);
  }

  size_t part_of(StringId name) {
    uint8_t& part = part_of_name_[name.index()];
    if (part == kUnknownPart) part = static_cast<uint8_t>(names_[name].kernel_class);
    return part;
  }

  static GapFound gap_at(InstanceId instance, Nanoseconds start, Nanoseconds end) {
    GapFound gap;
    gap.instance = instance;
    gap.start = start;
    gap.end = end;
    return gap;
  }

  void settle_between(const Progress& progress, const GpuWorkRow& work, Nanoseconds start) {
    const bool later = work.launch.valid() && launched_[work.launch.index()];
    const DeviceId device = stages_.instances[work.instance.index()].device;
    const IdleSplit split = causes_.between(device, progress.until, start, work.launch, later);
    GapFound gap = gap_at(work.instance, progress.until, start);
    gap.before = progress.last;
    gap.after = work;
    gap.has_before = gap.has_after = true;
    gap.in_graph = later;
    gap.step = work.step;
    settle(gap, split, BudgetPart::unattributed);
  }

  // `edge` is what split.edge is charged to.
  void settle(GapFound& gap, const IdleSplit& split, BudgetPart edge) {
    split.charge_to(budgets_.instances[gap.instance.index()], edge);
    const StageInstance& instance = stages_.instances[gap.instance.index()];
    gap.idle = split.idle();
    if (instance.warmup || gap.idle <= 0) return;
    gap.cause = split.cause(edge);
    StageBudget& stage = budgets_.stages[instance.stage];
    ++stage.gaps[static_cast<size_t>(gap.cause)];
    const bool new_step = gap.has_before && gap.has_after && gap.before.step != gap.after.step;
    if (new_step) split.charge_to(stage.between_steps, edge);
    gaps_.offer(instance.stage, gap);
  }

  const Trace& trace_;
  const Stages& stages_;
  Budgets& budgets_;
  std::vector<CoveredTime> busy_;
  IdleCauses causes_;
  std::vector<uint8_t> part_of_name_;  // by string
  const DescribedNames& names_;
  std::vector<bool> launched_;  // by launch: has put work on a GPU
  std::vector<Progress> progress_;
  LongestGaps gaps_;
};

void sum_up(const Stages& stages, Budgets& budgets) {
  for (size_t i = 0; i < stages.instances.size(); ++i) {
    const StageInstance& instance = stages.instances[i];
    if (instance.warmup) continue;
    StageBudget& stage = budgets.stages[instance.stage];
    ++stage.instances;
    for (size_t part = 0; part < kBudgetParts; ++part) {
      stage.total[part] += budgets.instances[i][part];
    }
  }
}

}  // namespace

Budgets time_budgets(const Trace& trace, const Stages& stages, const DescribedNames& names) {
  Budgets budgets;
  budgets.instances.resize(stages.instances.size());
  budgets.stages.resize(stages.stages.size());
  for (size_t i = 0; i < stages.stages.size(); ++i) {
    budgets.stages[i].stage = static_cast<uint32_t>(i);
  }
  if (stages.instances.empty()) return budgets;
  Sweep sweep(trace, stages, names, budgets);
  each_gpu_work(trace, stages.owners, [&](const GpuWorkRow& work) { sweep.add(work); });
  sweep.finish();
  sum_up(stages, budgets);
  budgets.gaps = sweep.gaps().in_words(trace, names);
  budgets.slow_steps = find_slow_steps(trace, stages, names, sweep.causes());
  return budgets;
}

}  // namespace llmprof
