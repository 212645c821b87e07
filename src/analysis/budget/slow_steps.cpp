#include "analysis/budget/slow_steps.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <span>
#include <utility>

#include "analysis/budget/gpu_timeline.h"
#include "analysis/budget/idle_gaps.h"
#include "analysis/statistics/statistics.h"

namespace llmprof::analysis {
namespace {

constexpr size_t kMostSteps = 5;  // per stage
constexpr size_t kMostReasons = 3;
constexpr double kWorthNaming = 0.10;  // of the time above the median: a gap gets its own line
constexpr double kWorthListing = 0.05;
constexpr double kLeastRest = 0.01;

struct WorkInStep {
  GpuWorkRow work;
  Nanoseconds gap = 0;    // idle before it
  bool in_graph = false;  // launched by the same call as earlier work
};
using StepWork = std::vector<WorkInStep>;

// The GPU work of the given steps only.
std::map<uint32_t, StepWork> work_of(const trace::Trace& trace, const Stages& stages,
                                     const std::vector<StepOutlier>& outliers) {
  std::vector<bool> wanted(stages.steps.size(), false);
  for (const StepOutlier& outlier : outliers) {
    wanted[outlier.step.index()] = wanted[outlier.reference.index()] = true;
  }
  std::map<uint32_t, StepWork> by_step;
  std::map<uint32_t, Nanoseconds> busy_until;
  each_gpu_work(trace, stages.owners, [&](const GpuWorkRow& work) {
    if (!work.step.valid() || !wanted[work.step.index()]) return;
    StepWork& step = by_step[work.step.value];
    Nanoseconds& until =
        busy_until.try_emplace(work.step.value, stages.steps[work.step.index()].start)
            .first->second;
    const bool in_graph =
        !step.empty() && work.launch.valid() && step.back().work.launch == work.launch;
    step.push_back({work, std::max<Nanoseconds>(0, work.start - until), in_graph});
    until = std::max(until, work.end);
  });
  return by_step;
}

// Work, or a gap, that took longer than in the reference step.
struct Growth {
  Nanoseconds longer = 0;
  const WorkInStep* where = nullptr;  // in the slow step; for gaps, the longest
  int64_t more_calls = 0;
  uint64_t calls = 0;
  bool gap = false;  // idle time before the work, not its own
};

// Matches the work of two steps: by name if both have it, otherwise kernels by class, since another
// variant of an operation does the same job.
class Alignment {
 public:
  Alignment(const trace::Trace& trace, const DescribedNames& names, const StepWork& slow,
            const StepWork& usual)
      : trace_(trace), names_(names) {
    std::set<WorkKey> of_slow;
    for (const WorkInStep& entry : slow) of_slow.insert(work_key(trace, entry.work));
    for (const WorkInStep& entry : usual) {
      const WorkKey key = work_key(trace, entry.work);
      if (of_slow.contains(key)) common_.insert(key);
    }
  }

  [[nodiscard]] WorkKey key(const WorkInStep& entry) const {
    const WorkKey own = work_key(trace_, entry.work);
    return common_.contains(own) ? own : class_key(entry);
  }
  [[nodiscard]] WorkKey class_key(const WorkInStep& entry) const {
    if (entry.work.kind != GpuWorkKind::kernel) return work_key(trace_, entry.work);
    const auto kind = names_[trace_.kernels.name[entry.work.row]].kernel_class;
    return {GpuWorkKind::kernel, kNoName | static_cast<uint32_t>(kind)};
  }

 private:
  static constexpr uint32_t kNoName = 1U << 31U;  // above every string's number

  const trace::Trace& trace_;
  const DescribedNames& names_;
  std::set<WorkKey> common_;
};

// Groups by kind of work. `time_of(entry)` is the time to compare. If `replaces(entry, known)`, the
// entry becomes the group's `where`.
template <class TimeOf, class Replaces>
std::vector<Growth> growth_by_work(const Alignment& alignment, const StepWork& slow,
                                   const StepWork& usual, TimeOf time_of, Replaces replaces) {
  std::map<WorkKey, Growth> by_key;
  for (const WorkInStep& entry : slow) {
    Growth& growth = by_key[alignment.key(entry)];
    growth.longer += time_of(entry);
    ++growth.calls;
    ++growth.more_calls;
    if (growth.where == nullptr || replaces(entry, *growth.where)) growth.where = &entry;
  }
  for (const WorkInStep& entry : usual) {
    const auto found = by_key.find(alignment.key(entry));
    if (found == by_key.end()) continue;
    found->second.longer -= time_of(entry);
    --found->second.more_calls;
  }
  std::vector<Growth> growths;
  growths.reserve(by_key.size());
  for (const auto& [key, growth] : by_key) growths.push_back(growth);
  return growths;
}

std::vector<Growth> growth_of_work(const Alignment& alignment, const StepWork& slow,
                                   const StepWork& usual) {
  return growth_by_work(
      alignment, slow, usual,
      [](const WorkInStep& entry) { return entry.work.end - entry.work.start; },
      [](const WorkInStep& /*entry*/, const WorkInStep& /*known*/) { return true; });
}

bool same_sequence(const Alignment& alignment, const StepWork& a, const StepWork& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [&](const WorkInStep& x, const WorkInStep& y) {
                      return alignment.class_key(x) == alignment.class_key(y);
                    });
}

// By position if both steps run the same sequence of work kinds, otherwise by the work after a gap.
std::vector<Growth> growth_of_gaps(const Alignment& alignment, const StepWork& slow,
                                   const StepWork& usual) {
  std::vector<Growth> growths;
  if (same_sequence(alignment, slow, usual)) {
    for (size_t i = 0; i < slow.size(); ++i) {
      growths.push_back({slow[i].gap - usual[i].gap, &slow[i], 0, 1});
    }
    return growths;
  }
  return growth_by_work(
      alignment, slow, usual, [](const WorkInStep& entry) { return entry.gap; },
      [](const WorkInStep& entry, const WorkInStep& known) { return entry.gap > known.gap; });
}

// Largest first. Gaps too small to name become one entry without `where`.
std::vector<Growth> causes_of(const Alignment& alignment, Nanoseconds above, const StepWork& slow,
                              const StepWork& usual) {
  const auto at_least = [&](double share) {
    return static_cast<Nanoseconds>(share * static_cast<double>(above));
  };
  std::vector<Growth> causes;
  for (const Growth& growth : growth_of_work(alignment, slow, usual)) {
    if (growth.longer > at_least(kWorthListing)) causes.push_back(growth);
  }
  Growth small;
  small.gap = true;
  for (Growth& growth : growth_of_gaps(alignment, slow, usual)) {
    growth.gap = true;
    if (growth.longer > at_least(kWorthNaming)) {
      causes.push_back(growth);
    } else {
      small.longer += growth.longer;
      small.calls += growth.longer > 0 ? 1U : 0U;
    }
  }
  if (small.longer > at_least(kWorthListing)) causes.push_back(small);
  std::ranges::stable_sort(causes, std::greater(), &Growth::longer);
  if (causes.size() > kMostReasons) causes.resize(kMostReasons);
  return causes;
}

profile::Reason reason_for(const trace::Trace& trace, const DescribedNames& names,
                           const Growth& growth) {
  const auto calls = static_cast<double>(growth.calls);
  profile::FindingValues values;
  if (growth.where == nullptr) {
    return make_reason(profile::ReasonKind::longer_small_gaps, values.add("gaps", calls));
  }
  const GpuWorkRow& work = growth.where->work;
  values.add("work", work_name(trace, names, work.kind, work.row)).add("calls", calls);
  if (growth.gap) return make_reason(profile::ReasonKind::longer_gap, values);
  if (growth.more_calls > 0) {
    values.add("more_calls", growth.more_calls);
  }
  return make_reason(profile::ReasonKind::longer_work, values);
}

profile::SlowStep without_reasons(const Stages& stages, const StepOutlier& outlier) {
  const Step& step = stages.steps[outlier.step.index()];
  const StageInstance& instance = stages.instances[step.instance.index()];
  const auto earlier = std::span(stages.instances).first(step.instance.index());
  const auto place = std::ranges::count(earlier, instance.stage, &StageInstance::stage);
  return {to_printable(stages.stages[instance.stage].name),
          static_cast<uint64_t>(place),
          outlier.step.index(),
          outlier.step.index() - instance.first_step,
          to_milliseconds(step.wall()),
          to_milliseconds(outlier.above_median),
          {}};
}

void add_rest(Nanoseconds rest, Nanoseconds above_median, profile::SlowStep& step) {
  const double share = static_cast<double>(rest) / static_cast<double>(above_median);
  if (step.reasons.empty() || std::abs(share) < kLeastRest) return;
  const auto kind =
      rest > 0 ? profile::ReasonKind::longer_unexplained : profile::ReasonKind::shorter_other_parts;
  step.reasons.push_back({"", to_milliseconds(rest), {make_reason(kind)}});
}

IdleGap gap_before(const Stages& stages, IdleCauses& causes, const WorkInStep& entry) {
  const GpuWorkRow& work = entry.work;
  IdleGap gap{work.instance, work.start - entry.gap, work.start, entry.gap};
  gap.after = work;
  gap.in_graph = entry.in_graph;
  const trace::DeviceId device = stages.instances[work.instance.index()].device;
  gap.cause = causes.between(device, gap.start, gap.end, work.launch, entry.in_graph)
                  .cause(BudgetPart::unattributed);
  return gap;
}

}  // namespace

std::vector<profile::SlowStep> find_slow_steps(const trace::Trace& trace, const Stages& stages,
                                               const DescribedNames& names,
                                               const CallsByThread& calls, IdleCauses& causes) {
  const std::vector<StepOutlier> outliers = step_outliers(stages, kMostSteps);
  std::vector<profile::SlowStep> steps;
  if (outliers.empty()) return steps;
  std::map<uint32_t, StepWork> work = work_of(trace, stages, outliers);
  std::vector<IdleGap> gaps;
  std::vector<std::pair<size_t, size_t>> asked_for;  // step and reason of each gap
  for (const StepOutlier& outlier : outliers) {
    profile::SlowStep step = without_reasons(stages, outlier);
    const StepWork& slow = work[outlier.step.value];
    const StepWork& usual = work[outlier.reference.value];
    const Alignment alignment(trace, names, slow, usual);
    Nanoseconds explained = 0;
    for (const Growth& cause : causes_of(alignment, outlier.above_median, slow, usual)) {
      explained += cause.longer;
      if (cause.gap && cause.where != nullptr) {
        gaps.push_back(gap_before(stages, causes, *cause.where));
        asked_for.emplace_back(steps.size(), step.reasons.size());
      }
      step.reasons.push_back(
          {"", to_milliseconds(cause.longer), {reason_for(trace, names, cause)}});
    }
    add_rest(outlier.above_median - explained, outlier.above_median, step);
    steps.push_back(std::move(step));
  }
  std::vector<IdleGap*> to_explain;
  to_explain.reserve(gaps.size());
  for (IdleGap& gap : gaps) to_explain.push_back(&gap);
  find_host_activity(trace, calls, to_explain);
  for (size_t i = 0; i < gaps.size(); ++i) {
    const auto [step, reason] = asked_for[i];
    steps[step].reasons[reason].what_reasons.push_back(gaps[i].host);
  }
  return steps;
}

}  // namespace llmprof::analysis
