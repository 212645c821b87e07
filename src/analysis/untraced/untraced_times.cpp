#include "analysis/untraced/untraced_times.h"

#include <algorithm>
#include <cmath>
#include <ranges>

#include "analysis/stages/thresholds.h"
#include "analysis/untraced/pass_times.h"
#include "base/units.h"

namespace llmprof::analysis {
namespace {

bool holds_work(size_t part) {
  return !is_idle(part) && part != static_cast<size_t>(BudgetPart::not_traced) &&
         part != static_cast<size_t>(BudgetPart::unattributed);
}

// From the traced run, in ns per instance, as if all steps had been traced.
struct TracedStage {
  double wall = 0;
  double busy = 0;
  double idle = 0;  // including unattributed time
  double steps = 0;
  double kernels = 0;
  // From its start to its first launch: only the host works, at untraced speed.
  double prepared = 0;
  std::array<double, kBudgetParts> parts{};
};

TracedStage traced_stage(const Stages& stages, const StageBudget& budget) {
  TracedStage traced;
  double steps = 0;
  double all_steps = 0;
  double kernels = 0;
  for (const StageInstance& instance : stages.instances) {
    if (instance.stage != budget.stage || instance.warmup) continue;
    steps += instance.step_count;
    all_steps += instance.all_steps();
    kernels += static_cast<double>(instance.work.kernel_count);
  }
  const auto instances = static_cast<double>(budget.instances);
  const double scale = steps > 0 ? all_steps / steps : 1;
  traced.steps = all_steps / instances;
  traced.kernels = kernels / instances * scale;
  for (size_t part = 0; part < kBudgetParts; ++part) {
    if (part == static_cast<size_t>(BudgetPart::not_traced)) continue;
    traced.parts[part] = static_cast<double>(budget.total[part]) / instances * scale;
    (holds_work(part) ? traced.busy : traced.idle) += traced.parts[part];
  }
  traced.wall = traced.busy + traced.idle;
  return traced;
}

// Drops the first passes of each stage, as many as are warm-up in the recorded run.
std::vector<LaunchPass> without_warmup(const std::vector<LaunchPass>& passes,
                                       const std::vector<LaunchPass>& recorded,
                                       const Stages& stages) {
  std::vector<size_t> warmup(stages.stages.size(), 0);
  for (const LaunchPass& pass : recorded) {
    if (stages.instances[pass.instance.index()].warmup) ++warmup[pass.stage];
  }
  std::vector<LaunchPass> rest;
  for (const LaunchPass& pass : passes) {
    if (warmup[pass.stage] > 0) {
      --warmup[pass.stage];
    } else {
      rest.push_back(pass);
    }
  }
  return rest;
}

// Launch by launch the same program, as far as the launched functions are known.
bool same_launches(const LaunchSequence& own, const LaunchSequence& other) {
  if (own.size() != other.size()) return false;
  const std::vector<uint32_t> a = launch_tokens(own);
  const std::vector<uint32_t> b = launch_tokens(other);
  size_t known_from = 0;  // later tokens do not refer to unknown launches
  for (size_t i = 0; i < a.size(); ++i) {
    if (!own.without_work.empty() && own.without_work[i])
      known_from = i + 1 + threshold::kFarthestLaunch;
    if (own.graph[i] != other.graph[i] || (i >= known_from && a[i] != b[i])) return false;
  }
  return true;
}

// The sequence with the most passes, and its passes.
template <class Find>
std::pair<size_t, std::vector<LaunchPass>> with_most_passes(
    const std::vector<LaunchSequence>& sequences, const Find& find) {
  std::pair<size_t, std::vector<LaunchPass>> most;
  for (size_t i = 0; i < sequences.size(); ++i) {
    std::vector<LaunchPass> passes = find(sequences[i]);
    if (passes.size() > most.second.size()) most = {i, std::move(passes)};
  }
  return most;
}

class Finder {
 public:
  Finder(const trace::Trace& trace, const Stages& stages, const Budgets& budgets)
      : trace_(trace), stages_(stages), result_{} {
    result_.stages.resize(stages.stages.size());
    result_.budgets = budgets;
    traced_.resize(stages.stages.size());
    for (size_t i = 0; i < stages.stages.size(); ++i) {
      if (i >= budgets.stages.size() || budgets.stages[i].instances == 0) {
        result_.stages[i].why_not = NoUntracedTime::warmup_only;
      } else {
        traced_[i] = traced_stage(stages, budgets.stages[i]);
      }
      busy_.push_back(traced_[i].busy);
    }
  }

  void by_workload() {
    if (!trace_.workload) return;
    for (uint32_t i = 0; i < stages_.stages.size(); ++i) {
      for (const auto& timing : trace_.workload->stages) {
        if (timing.name != stages_.stages[i].name || timing.mean_ms <= 0 || !open(i)) continue;
        set_wall(i, timing.mean_ms * kNanosecondsPerMillisecond, UntracedSource::workload_clock);
      }
    }
  }

  void by_launches(const trace::Trace* control) {
    const bool of_driver = control != nullptr && control->host_calls.of_driver;
    if (!of_driver) return by_launches_in(noted_sequences(trace_), control);
    by_launches_in(noted_sequences(trace_), nullptr);
    by_launches_in(traced_sequences(trace_), control);
  }

  UntracedStages take() {
    for (size_t i = 0; i < result_.stages.size(); ++i) {
      if (result_.stages[i].known()) scale(i);
    }
    return std::move(result_);
  }

 private:
  // Uses the thread that launched the most passes.
  void by_launches_in(const std::vector<LaunchSequence>& sequences, const trace::Trace* control) {
    if (!any_open()) return;
    const auto [chosen, recorded] = with_most_passes(sequences, [&](const LaunchSequence& each) {
      return recorded_passes(trace_, stages_, each);
    });
    if (recorded.empty()) return;
    const LaunchSequence& own = sequences[chosen];
    measure_preparations(own, recorded);
    by_windows(own, recorded);
    if (control != nullptr && any_open()) by_control(own, recorded, *control);
  }

  void measure_preparations(const LaunchSequence& own, const std::vector<LaunchPass>& recorded) {
    std::vector<double> total(stages_.stages.size(), 0);
    std::vector<double> instances(stages_.stages.size(), 0);
    InstanceId seen;
    for (const LaunchPass& pass : recorded) {
      if (pass.instance == seen) continue;
      seen = pass.instance;
      const StageInstance& instance = stages_.instances[pass.instance.index()];
      if (instance.warmup) continue;
      const Nanoseconds before = own.start[pass.first - pass.lead] - instance.start;
      total[pass.stage] += static_cast<double>(std::max<Nanoseconds>(before, 0));
      ++instances[pass.stage];
    }
    for (size_t i = 0; i < total.size(); ++i) {
      if (instances[i] > 0) traced_[i].prepared = total[i] / instances[i];
    }
  }

  [[nodiscard]] bool open(size_t stage) const {
    const auto why = result_.stages[stage].why_not;
    return why == NoUntracedTime::no_other_time || why == NoUntracedTime::launches_differ ||
           why == NoUntracedTime::does_not_fit;
  }
  [[nodiscard]] bool any_open() const {
    return std::ranges::any_of(std::views::iota(size_t{0}, result_.stages.size()),
                               [&](size_t stage) { return open(stage); });
  }

  void by_windows(const LaunchSequence& own, const std::vector<LaunchPass>& recorded) {
    const auto periods = detached_periods(trace_, trace_.threads[own.thread.index()].process);
    const std::vector<uint32_t> tokens = launch_tokens(own);
    PassSignatures signatures;
    signatures.learn(tokens, own, recorded);
    std::vector<PassTimes> times(stages_.stages.size());
    std::vector<uint64_t> all(stages_.stages.size(), 0);
    for (const LaunchPass& pass : recorded) ++all[pass.stage];
    bool any = false;
    for (const auto& period : periods) {
      const auto row = [&](Nanoseconds time) {
        return static_cast<size_t>(std::ranges::lower_bound(own.start, time) - own.start.begin());
      };
      std::vector<LaunchPass> found = signatures.find(tokens, row(period.start), row(period.end));
      for (const LaunchPass& pass : found) ++all[pass.stage];
      if (found.size() <= threshold::kSettlingPasses + 1) continue;
      found.erase(found.begin(), found.begin() + threshold::kSettlingPasses);
      found.pop_back();
      any = true;
      add_times_by_run(time_passes(own, found), true, times);
    }
    if (!any) return;
    use(times, UntracedSource::between_windows);
    for (size_t i = 0; i < all.size(); ++i) result_.stages[i].all_passes = all[i];
  }

  void by_control(const LaunchSequence& own, const std::vector<LaunchPass>& recorded,
                  const trace::Trace& control) {
    const std::vector<LaunchSequence> others = noted_sequences(control);
    std::vector<double> prepared;
    prepared.reserve(traced_.size());
    for (const TracedStage& stage : traced_) prepared.push_back(stage.prepared);
    const std::vector<UnnotedEnd> unnoted =
        unnoted_ends(time_passes(own, recorded), recorded, stages_);
    const auto use_instances = [&](const LaunchSequence& other,
                                   const std::vector<LaunchPass>& passes) {
      use(times_by_instance(time_passes(other, passes, prepared), recorded, stages_, busy_,
                            unnoted),
          UntracedSource::control_launches);
    };
    for (const LaunchSequence& other : others) {
      // Launch by launch the same program: no need to search for its passes.
      if (same_launches(own, other)) return use_instances(other, recorded);
    }
    PassSignatures signatures;
    signatures.learn(launch_tokens(own), own, recorded);
    const auto [chosen, found] = with_most_passes(others, [&](const LaunchSequence& each) {
      return signatures.find(launch_tokens(each), 0, each.size());
    });
    std::vector<PassTimes> times(stages_.stages.size());
    const double enough = threshold::kAlmostAll * static_cast<double>(recorded.size());
    if (!found.empty() && static_cast<double>(found.size()) >= enough) {
      const LaunchSequence& other = others[chosen];
      if (std::ranges::equal(recorded, found, {}, &LaunchPass::stage, &LaunchPass::stage)) {
        return use_instances(other, found);
      }
      add_times_by_run(time_passes(other, without_warmup(found, recorded, stages_)), false, times);
    }
    use(times, UntracedSource::control_launches);
  }

  void use(const std::vector<PassTimes>& times, UntracedSource source) {
    for (uint32_t i = 0; i < times.size(); ++i) {
      if (open(i)) set_passes(i, times[i], source);
    }
  }

  void set_wall(uint32_t stage, double wall, UntracedSource source) {
    const TracedStage& traced = traced_[stage];
    StageUntraced& result = result_.stages[stage];
    const bool busy_fits =
        traced.busy <= std::max((1 + threshold::kTolerance) * wall,
                                wall + threshold::kAddedToAKernel * traced.kernels);
    const double longest = source == UntracedSource::between_windows ? threshold::kClearlyMore
                                                                     : threshold::kLongestUntraced;
    if (wall < threshold::kShortestUntraced * traced.wall || wall > longest * traced.wall ||
        !busy_fits) {
      result.why_not = NoUntracedTime::does_not_fit;
      return;
    }
    result.why_not.reset();
    result.source = source;
    result.wall = wall;
    result.added = traced.wall - wall;
    const bool decode = stages_.stages[stage].name == profile::kDecode;
    if (decode && traced.steps > 0) result.per_step = wall / traced.steps;
    result.idle = std::max(wall - traced.busy, 0.0);
    if (wall < traced.busy) result.busy_scale = wall / traced.busy;
    result.idle_scale = traced.idle > 0 ? result.idle / traced.idle : 1;
    for (size_t part = 0; part < kBudgetParts; ++part) {
      result.parts[part] = traced.parts[part] * scale_of(part, result);
    }
    if (traced.idle <= 0) {
      result.parts[static_cast<size_t>(BudgetPart::unattributed)] = result.idle;
    }
  }

  // Uses times of single passes.
  void set_passes(uint32_t stage, const PassTimes& times, UntracedSource source) {
    const TracedStage& traced = traced_[stage];
    StageUntraced& result = result_.stages[stage];
    const bool of_control = source == UntracedSource::control_launches;
    // The control run's only passes of that kind are also its first: equally cold, unlike later
    // ones.
    const bool only_cold = of_control && stages_.stages[stage].only_the_first &&
                           times.passes <= static_cast<uint64_t>(std::ranges::count(
                                               stages_.instances, stage, &StageInstance::stage));
    // A part of a pass may occur occasionally in another run; the pass itself would occur as often.
    const bool seldom = of_control && static_cast<double>(times.passes) <
                                          threshold::kMost * static_cast<double>(result.all_passes);
    if (times.passes == 0 || only_cold || seldom) {
      if (result.why_not == NoUntracedTime::no_other_time) {
        result.why_not = NoUntracedTime::launches_differ;
      }
      return;
    }
    double launched = times.per_pass() * (traced.steps > 0 ? traced.steps : 1);
    double prepared = traced.prepared;
    if (times.instances > 0) {
      const auto instances = static_cast<double>(times.instances);
      launched = times.total / instances;
      // The host's preparation cannot have started before its last call.
      prepared = std::min(prepared, times.before / instances);
    }
    set_wall(stage, launched + prepared, source);
    result.passes = times.passes;
    result.instances = times.instances;
  }

  static double scale_of(size_t part, const StageUntraced& known) {
    return holds_work(part) ? known.busy_scale : known.idle_scale;
  }

  // Scales what is ranked: the idle time of the stage and of its gaps.
  void scale(size_t stage) {
    const StageUntraced& known = result_.stages[stage];
    const auto scaled = [](Nanoseconds& time, double by) {
      time = std::llround(static_cast<double>(time) * by);
    };
    StageBudget& budget = result_.budgets.stages[stage];
    for (size_t part = 0; part < kBudgetParts; ++part) {
      if (part == static_cast<size_t>(BudgetPart::not_traced)) continue;
      scaled(budget.total[part], scale_of(part, known));
      scaled(budget.between_steps[part], scale_of(part, known));
    }
    scaled(budget.queued_long, known.idle_scale);
    const auto of_stage = [&](const IdleGap& gap) {
      return stages_.instances[gap.instance.index()].stage == stage;
    };
    for (IdleGap& gap : result_.budgets.gaps) {
      if (of_stage(gap)) shorten(gap, known.idle_scale);
    }
    for (RepeatedIdleGap& gap : result_.budgets.repeated_gaps) {
      if (!of_stage(gap.longest)) continue;
      shorten(gap.longest, known.idle_scale);
      scaled(gap.total, known.idle_scale);
    }
  }

  static void shorten(IdleGap& gap, double by) {
    gap.end = gap.start + std::llround(static_cast<double>(gap.length()) * by);
  }

  const trace::Trace& trace_;
  const Stages& stages_;
  std::vector<TracedStage> traced_;
  std::vector<double> busy_;
  UntracedStages result_;
};

bool on_gpu(const trace::Trace& trace) {
  const auto& queues = trace.kernels.queue;
  return queues.empty() || trace.device_of(queues.front()).kind == trace::DeviceKind::gpu;
}

}  // namespace

UntracedStages find_untraced_times(const trace::Trace& trace, const Stages& stages,
                                   const Budgets& budgets, const trace::Trace* control,
                                   bool selected) {
  Finder finder(trace, stages, budgets);
  // The program itself records CPU operators, at almost no cost.
  const bool of_cpu = !on_gpu(trace);
  if (!selected && !of_cpu) {
    finder.by_workload();
    finder.by_launches(control);
  }
  UntracedStages found = finder.take();
  for (StageUntraced& stage : found.stages) {
    if (selected) stage.why_not = NoUntracedTime::selection;
    if (of_cpu && stage.why_not == NoUntracedTime::no_other_time) {
      stage.why_not = NoUntracedTime::cpu_operators;
    }
  }
  return found;
}

}  // namespace llmprof::analysis
