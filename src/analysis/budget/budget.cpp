#include "analysis/budget/budget.h"

#include <algorithm>
#include <functional>

#include "analysis/budget/gpu_timeline.h"
#include "analysis/budget/idle_causes.h"
#include "analysis/budget/idle_gaps.h"
#include "analysis/budget/slow_steps.h"
#include "analysis/statistics/statistics.h"

namespace llmprof::analysis {
namespace {

constexpr auto kCommunicationClass = static_cast<size_t>(KernelClass::communication);
constexpr auto kMemory = static_cast<size_t>(BudgetPart::memory_operations);

// Time that is charged to `part` unless work of higher priority covers it.
struct UnchargedTime {
  Nanoseconds from = INT64_MIN;
  Nanoseconds to = INT64_MIN;

  void charge_until(Nanoseconds time, Nanoseconds& part) {
    const Nanoseconds until = std::min(to, time);
    if (until > from) {
      part += until - from;
      from = until;
    }
  }
  void cover(Nanoseconds start, Nanoseconds end, Nanoseconds& part) {
    charge_until(start, part);
    from = std::max(from, end);
  }
  // Later work starts later, so a gap before `start` is settled.
  void extend(Nanoseconds start, Nanoseconds end, Nanoseconds& part) {
    if (start > to) {
      charge_until(to, part);
      from = std::max(from, start);
    }
    to = std::max(to, end);
  }
};

// Charges the time of overlapping GPU work once. Work arrives in order of its start. `part` is
// charged for [start, end) minus what was or will be charged to work of higher priority.
class ChargeOnce {
 public:
  void kernel(Nanoseconds start, Nanoseconds end, size_t part, PartTimes& times) {
    const Nanoseconds from = std::max(start, kernels_until_);
    if (end > from) {
      times[part] += end - from;
      kernels_until_ = end;
    }
    communication_.cover(start, end, times[kCommunicationClass]);
    memory_.cover(start, end, times[kMemory]);
  }
  void communication(Nanoseconds start, Nanoseconds end, PartTimes& times) {
    communication_.extend(std::max(start, kernels_until_), end, times[kCommunicationClass]);
    memory_.cover(start, end, times[kMemory]);
    communication_until_ = std::max(communication_until_, end);
  }
  void memory(Nanoseconds start, Nanoseconds end, PartTimes& times) {
    const Nanoseconds free = std::max({start, kernels_until_, communication_until_});
    memory_.extend(free, end, times[kMemory]);
  }
  // Charges the time that work of higher priority could still have covered.
  void finish(PartTimes& times) {
    communication_.charge_until(INT64_MAX, times[kCommunicationClass]);
    memory_.charge_until(INT64_MAX, times[kMemory]);
  }

 private:
  Nanoseconds kernels_until_ = INT64_MIN;
  Nanoseconds communication_until_ = INT64_MIN;
  UnchargedTime communication_;
  UnchargedTime memory_;
};

constexpr auto kHiddenGraphs = static_cast<size_t>(BudgetPart::hidden_graphs);
constexpr auto kUnattributed = static_cast<size_t>(BudgetPart::unattributed);

// How far an instance has been charged.
struct Progress {
  bool begun = false;
  Nanoseconds until = 0;  // the end of its GPU work so far
  GpuWorkRow last;        // the work that ends there
  ChargeOnce charge;
};

class Sweep {
 public:
  Sweep(const trace::Trace& trace, const Stages& stages, const DescribedNames& names,
        const BudgetBasis& basis, Budgets& budgets)
      : trace_(trace),
        stages_(stages),
        budgets_(budgets),
        calls_(basis.calls),
        causes_(trace, basis.calls, basis.busy),
        part_of_name_(trace.strings.size(), kUnknownPart),
        names_(names),
        launched_(trace.launches.size(), false),
        progress_(stages.instances.size()),
        gaps_(stages.stages.size()) {}

  void add(const GpuWorkRow& work) {
    charge(work);
    if (work.launch.valid()) launched_[work.launch.index()] = true;
  }

  // Charges the time of each instance after its last GPU work.
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
      settle_last(InstanceId(i), progress, instance.end);
    }
  }

  void explain() {
    gaps_.describe(trace_, names_, calls_, budgets_);
    budgets_.slow_steps = find_slow_steps(trace_, stages_, names_, calls_, causes_);
  }

 private:
  static constexpr uint8_t kUnknownPart = UINT8_MAX;

  void charge(const GpuWorkRow& work) {
    if (!work.instance.valid()) return;
    const StageInstance& instance = stages_.instances[work.instance.index()];
    if (trace_.queues[work.queue].device != instance.device) return;
    const Nanoseconds start = std::max(work.start, instance.start);
    const Nanoseconds end = std::min(work.end, instance.end);
    if (end < start) return;  // outside the instance's time

    Progress& progress = progress_[work.instance.index()];
    if (!progress.begun) {
      settle_first(work, start);
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
    if (part == kCommunicationClass) return charge.communication(start, end, times);
    charge.kernel(start, end, part, times);
  }

  size_t part_of(trace::StringId name) {
    uint8_t& part = part_of_name_[name.index()];
    if (part == kUnknownPart) part = static_cast<uint8_t>(names_[name].kernel_class);
    return part;
  }

  void settle_between(const Progress& progress, const GpuWorkRow& work, Nanoseconds start) {
    const bool later = work.launch.valid() && launched_[work.launch.index()];
    const StageInstance& instance = stages_.instances[work.instance.index()];
    each_traced(work.instance, progress.until, start, [&](Nanoseconds from, Nanoseconds to) {
      const IdleSplit split = causes_.between(instance.device, from, to, work.launch, later);
      settle(work.instance, from, to, split, BudgetPart::unattributed,
             from == progress.until ? &progress.last : nullptr, to == start ? &work : nullptr,
             later);
      if (!later && split.waited_long()) note_long_wait(instance, split, BudgetPart::unattributed);
      if (!instance.warmup && progress.last.step != work.step) {
        split.charge_to(budgets_.stages[instance.stage].between_steps, BudgetPart::unattributed);
      }
    });
  }

  void settle_first(const GpuWorkRow& work, Nanoseconds start) {
    const StageInstance& instance = stages_.instances[work.instance.index()];
    each_traced(work.instance, instance.start, start, [&](Nanoseconds from, Nanoseconds to) {
      const bool reaches_work = to == start;  // otherwise untraced time lies between
      const IdleSplit split = reaches_work
                                  ? causes_.before_first(instance.device, from, to, work.launch)
                                  : causes_.at_edge(instance.device, from, to);
      settle(work.instance, from, to, split, BudgetPart::idle_before_first, nullptr,
             reaches_work ? &work : nullptr, false);
      if (split.queued > 0) note_long_wait(instance, split, BudgetPart::idle_before_first);
    });
  }

  void note_long_wait(const StageInstance& instance, const IdleSplit& split, BudgetPart edge) {
    if (instance.warmup) return;
    StageBudget& stage = budgets_.stages[instance.stage];
    stage.queued_long += split.queued;
    if (split.cause(edge) == BudgetPart::idle_queued) ++stage.gaps_queued_long;
  }

  void settle_last(InstanceId id, const Progress& progress, Nanoseconds end) {
    const trace::DeviceId device = stages_.instances[id.index()].device;
    each_traced(id, progress.until, end, [&](Nanoseconds from, Nanoseconds to) {
      settle(id, from, to, causes_.at_edge(device, from, to), BudgetPart::idle_after_last,
             from == progress.until ? &progress.last : nullptr, nullptr, false);
    });
  }

  // Charges the untraced time of [from, to), minus other GPU work in it, and calls visit(from, to)
  // for each traced stretch.
  template <class Visit>
  void each_traced(InstanceId id, Nanoseconds from, Nanoseconds to, const Visit& visit) {
    const StageInstance& instance = stages_.instances[id.index()];
    PartTimes& times = budgets_.instances[id.index()];
    Nanoseconds reached = from;
    for (const auto& unseen :
         stages_.untraced.within(instance.process, instance.device, from, to)) {
      if (unseen.start > reached) visit(reached, unseen.start);
      const IdleSplit split = causes_.at_edge(instance.device, unseen.start, unseen.end);
      split.charge_to(times, BudgetPart::not_traced);
      reached = unseen.end;
    }
    if (reached < to) visit(reached, to);
  }

  // `edge`: the part that split.edge is charged to. `before` and `after` are null at the edges.
  void settle(InstanceId id, Nanoseconds start, Nanoseconds end, const IdleSplit& split,
              BudgetPart edge, const GpuWorkRow* before, const GpuWorkRow* after, bool in_graph) {
    split.charge_to(budgets_.instances[id.index()], edge);
    const StageInstance& instance = stages_.instances[id.index()];
    const Nanoseconds idle = split.idle();
    if (instance.warmup || idle <= 0) return;
    const BudgetPart cause = split.cause(edge);
    ++budgets_.stages[instance.stage].gaps[static_cast<size_t>(cause)];
    if (!gaps_.wants(instance.stage, idle)) return;
    IdleGap gap{id, start, end, idle, cause};
    gap.in_graph = in_graph;
    if (before != nullptr) gap.before = *before;
    if (after != nullptr) gap.after = *after;
    gaps_.offer(instance.stage, gap);
  }

  const trace::Trace& trace_;
  const Stages& stages_;
  Budgets& budgets_;
  const CallsByThread& calls_;
  IdleCauses causes_;
  std::vector<uint8_t> part_of_name_;  // by string
  const DescribedNames& names_;
  std::vector<bool> launched_;  // by launch: it has put work on a GPU
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

BudgetPart budget_part(size_t part, trace::DeviceKind device) {
  const auto found = static_cast<BudgetPart>(part);
  if (device != trace::DeviceKind::cpu || !is_idle(part)) return found;
  if (found == BudgetPart::idle_before_first) return BudgetPart::before_first_operator;
  if (found == BudgetPart::idle_after_last) return BudgetPart::after_last_operator;
  return BudgetPart::between_operators;
}

Nanoseconds fill_budget(const std::vector<PartTotal>& totals, uint64_t instances,
                        uint64_t untraced_steps, profile::Stage& stage) {
  Nanoseconds wall = 0;
  Nanoseconds idle = 0;
  Nanoseconds not_traced = 0;
  for (const PartTotal& part : totals) {
    wall += part.time;
    if (part.idle) idle += part.time;
    if (part.part == BudgetPart::not_traced) not_traced += part.time;
  }
  const double traced = as_double(wall - not_traced);
  const auto count = static_cast<double>(instances);
  const auto steps = static_cast<double>(stage.decode_step_count);
  std::vector<profile::BudgetPart>& rows = stage.budget.emplace();
  for (const auto& [part, time, is_idle] : totals) {
    profile::BudgetPart& row = rows.emplace_back();
    row.part = part;
    row.time = to_milliseconds(as_double(time) / count);
    row.share = {as_double(time) / as_double(wall)};
    row.total_ns = {time};
    row.idle = is_idle;
    if (part == BudgetPart::not_traced) continue;
    row.share_of_traced = {as_double(time) / traced};
    row.per_step = to_milliseconds(ratio(as_double(time), steps));
  }
  std::ranges::stable_sort(rows, std::greater(), &profile::BudgetPart::total_ns);
  if (instances == 0) return not_traced;
  if (steps > 0) {
    stage.wall_per_step =
        to_milliseconds(as_double(wall) / (steps + static_cast<double>(untraced_steps)));
  }
  stage.idle = to_milliseconds(as_double(idle) / count);
  stage.idle_share_of_wall = share(as_double(idle), traced);
  return not_traced;
}

Budgets time_budgets(const trace::Trace& trace, const Stages& stages, const DescribedNames& names,
                     const BudgetBasis& basis) {
  Budgets budgets;
  budgets.instances.resize(stages.instances.size());
  budgets.stages.resize(stages.stages.size());
  for (size_t i = 0; i < stages.stages.size(); ++i) {
    budgets.stages[i].stage = static_cast<uint32_t>(i);
  }
  if (stages.instances.empty()) return budgets;
  Sweep sweep(trace, stages, names, basis, budgets);
  each_gpu_work(trace, stages.owners, [&](const GpuWorkRow& work) { sweep.add(work); });
  sweep.finish();
  sum_up(stages, budgets);
  sweep.explain();
  return budgets;
}

}  // namespace llmprof::analysis
