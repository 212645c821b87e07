#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "analysis/stages/measure_stages.h"
#include "analysis/stages/thresholds.h"
#include "analysis/statistics/statistics.h"
#include "analysis/tracing/untraced_gpu_time.h"
#include "base/text.h"
#include "base/units.h"

namespace llmprof::analysis {
namespace {

// The first and last instance of a process on a GPU, and the kernels before and after them that
// belong to no instance: if stages were detected, they come from a cut pass.
struct Edges {
  InstanceId first;
  InstanceId last;
  uint64_t before = 0;
  uint64_t behind = 0;
};

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
  [[nodiscard]] bool at_end(size_t row) const {
    return stages_.instances[row].open_ended || few_kernels(row) || few_steps(row);
  }
  [[nodiscard]] bool is_the_only_one(size_t row) const { return others(row, false).empty(); }

 private:
  using Instances = std::vector<const StageInstance*>;

  [[nodiscard]] Instances others(size_t row, bool with_warmup) const {
    const StageInstance& instance = stages_.instances[row];
    Instances found;
    for (const StageInstance& other : stages_.instances) {
      if (&other == &instance || other.stage != instance.stage || (other.warmup && !with_warmup)) {
        continue;
      }
      if (other.gpu() == instance.gpu()) found.push_back(&other);
    }
    return found;
  }

  // Instances to compare with; a warm-up has the same work, though not the same time.
  [[nodiscard]] Instances comparable(size_t row) const {
    Instances found = others(row, false);
    return found.size() < 2 ? others(row, true) : found;
  }

  // Per step, if there are steps: a decode of fewer steps alone does not mean that it is cut.
  static double kernels_per_step(const StageInstance* instance) {
    return static_cast<double>(instance->work.kernel_count) /
           static_cast<double>(std::max(instance->step_count, 1U));
  }

  // All others have the same number of kernels, and this one has fewer.
  [[nodiscard]] bool few_kernels(size_t row) const {
    const Instances with = comparable(row);
    if (with.size() < 2) return false;
    const auto [least, most] = std::ranges::minmax(with, {}, kernels_per_step);
    const double usual = kernels_per_step(with.front()) * threshold::kAllButAFew;
    return kernels_per_step(least) >= usual &&
           kernels_per_step(with.front()) >= kernels_per_step(most) * threshold::kAllButAFew &&
           kernels_per_step(&stages_.instances[row]) < usual;
  }

  // Warm-up may have fewer steps; none has more than the others agree on.
  [[nodiscard]] bool few_steps(size_t row) const {
    const Instances with = comparable(row);
    uint32_t most = 0;
    for (const StageInstance* other : with) most = std::max(most, other->all_steps());
    const auto agrees = [&](const StageInstance* other) { return other->all_steps() == most; };
    return std::ranges::count_if(with, agrees) >= 2 &&
           std::ranges::all_of(
               with, [&](const StageInstance* other) { return other->warmup || agrees(other); }) &&
           stages_.instances[row].all_steps() < most;
  }

  const Stages& stages_;
};

// Nothing else is between the instance and an untraced period.
std::vector<bool> at_edges(const Stages& stages) {
  const std::vector<StageInstance>& all = stages.instances;
  std::vector<bool> found(all.size(), false);
  std::map<GpuOfProcess, std::vector<size_t>> by_gpu;
  for (size_t i = 0; i < all.size(); ++i) by_gpu[all[i].gpu()].push_back(i);
  for (const auto& [gpu, rows] : by_gpu) {
    for (const UntracedGpuTime::Window& window : stages.untraced.of(gpu.first, gpu.second)) {
      const auto behind = std::partition_point(
          rows.begin(), rows.end(), [&](size_t row) { return all[row].start < window.end; });
      if (behind != rows.begin()) found[*std::prev(behind)] = true;
      if (behind != rows.end()) found[*behind] = true;
    }
  }
  return found;
}

// Whether the program launched work in the period, by intercepted launches. Without notes, the
// collector attached again at its end, so the program was still running.
bool worked_in(const trace::Trace& trace, trace::ProcessId process,
               const TracingPeriods::Period& period) {
  const trace::HostCallTable& calls = trace.host_calls;
  bool watched = false;
  for (size_t i = 0; i < calls.size(); ++i) {
    if (trace.threads[calls.thread[i].index()].process != process) continue;
    watched = true;
    const bool launch = calls.kind[i] != trace::HostCallTable::Kind::wait;
    if (launch && calls.start[i] >= period.start && calls.start[i] < period.end) return true;
  }
  return !watched && period.end != INT64_MAX;
}

// Nothing ran untraced before it, but something did after it.
bool first_of_more(const trace::Trace& trace, const TracingPeriods& periods,
                   const StageInstance& instance) {
  bool later = false;
  for (const TracingPeriods::Period& period : periods.untraced(instance.process)) {
    const bool before = period.start < instance.start;
    if (!before && later) continue;
    if (!worked_in(trace, instance.process, period)) continue;
    if (before) return false;
    later = true;
  }
  return later;
}

std::string what_is_cold(const std::string& name, const std::vector<const StageInstance*>& all) {
  if (all.size() == 1) {
    return fmt::format(
        "only the program's first {} was recorded, its {:.3f} ms are a cold-start time", name,
        as_double(all.front()->wall()) / kNanosecondsPerMillisecond);
  }
  return fmt::format(
      "only the program's first {} instances of {} were recorded, their {:.3f} and {:.3f} ms may "
      "be cold-start times",
      all.size(), name, as_double(all.front()->wall()) / kNanosecondsPerMillisecond,
      as_double(all.back()->wall()) / kNanosecondsPerMillisecond);
}

}  // namespace

void report_untraced(const Stages& stages, Diagnostics& diagnostics) {
  for (uint32_t i = 0; i < stages.stages.size(); ++i) {
    const profile::StageTracing tracing = stage_tracing(stages, i);
    if (all_traced(tracing)) continue;
    const std::string& name = stages.stages[i].name;
    if (!tracing.share_of_steps) {
      diagnostics.warn(
          "stage_not_traced",
          fmt::format("the collector was not tracing during a part of {}: its kernel and "
                      "busy times are too small, and its budget has a part 'not "
                      "traced'",
                      name));
      continue;
    }
    diagnostics.info(
        "steps_not_traced",
        fmt::format("steps of {} were not traced ({} of {} were): kernel times, counts, layers and "
                    "busy times cover only the traced steps; wall times and tokens cover all steps",
                    name, tracing.steps_traced, tracing.steps_all),
        tracing.steps_all - tracing.steps_traced);
  }
}

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
                    only ? "no instance is complete: the stage's times cover only a part"
                         : "it is excluded from the statistics"),
        rows.size());
    // A stage's only instance is kept.
    for (const size_t row : rows) {
      if (cut.is_the_only_one(row)) continue;
      stages.instances[row].warmup = true;
      stages.instances[row].why_warmup = WarmupReason::cut_off;
    }
  };
  exclude(at_start, "had begun before recording did");
  exclude(at_end, "is cut off by the end of the capture");
}

void find_traced_parts(Stages& stages) {
  if (stages.serving || !stages.untraced.any()) return;
  std::vector<uint32_t> most(stages.stages.size(), 0);
  for (const StageInstance& instance : stages.instances) {
    most[instance.stage] = std::max(most[instance.stage], instance.step_count);
  }
  const std::vector<bool> edge = at_edges(stages);
  for (size_t i = 0; i < edge.size(); ++i) {
    StageInstance& instance = stages.instances[i];
    const bool detected = stages.stages[instance.stage].source == StageSource::detected;
    instance.traced_in_part = edge[i] && detected && instance.step_count < most[instance.stage];
  }
}

void exclude_traced_parts(Stages& stages, Diagnostics& diagnostics) {
  std::vector<bool> has_whole(stages.stages.size(), false);
  for (const StageInstance& instance : stages.instances) {
    if (!instance.traced_in_part && !instance.warmup) has_whole[instance.stage] = true;
  }
  std::vector<uint64_t> excluded(stages.stages.size(), 0);
  for (StageInstance& instance : stages.instances) {
    if (!instance.traced_in_part || instance.warmup || !has_whole[instance.stage]) continue;
    instance.warmup = true;
    instance.why_warmup = WarmupReason::cut_off;
    ++excluded[instance.stage];
  }
  for (size_t stage = 0; stage < excluded.size(); ++stage) {
    if (excluded[stage] == 0) continue;
    diagnostics.info("stage_traced_in_part",
                     stages.serving
                         ? fmt::format("recording began within the first step of {}; it is "
                                       "excluded from the statistics",
                                       stages.stages[stage].name)
                         : fmt::format("tracing windows cover only a part of some instances of {}, "
                                       "which have fewer steps than another one; they are excluded "
                                       "from the statistics",
                                       stages.stages[stage].name),
                     excluded[stage]);
  }
}

void flag_only_first(const trace::Trace& trace, Stages& stages, Diagnostics& diagnostics) {
  if (stages.serving) return;
  const TracingPeriods periods(trace);
  if (!periods.any_untraced()) return;
  for (uint32_t stage = 0; stage < stages.stages.size(); ++stage) {
    std::vector<const StageInstance*> all;
    for (const StageInstance& instance : stages.instances) {
      if (instance.stage == stage) all.push_back(&instance);
    }
    // If there are more, or a warm-up came before, the later ones show what is usual.
    if (all.empty() || all.size() > 2) continue;
    const bool cold = std::ranges::all_of(all, [&](const StageInstance* instance) {
      // A decode that windows see in pieces has cold and warm steps.
      return !instance->warmup && instance->all_steps() <= 1 &&
             first_of_more(trace, periods, *instance);
    });
    if (!cold) continue;
    stages.stages[stage].only_the_first = true;
    diagnostics.warn(
        "only_first_recorded",
        fmt::format("{}, and the program continued untraced; record without "
                    "--overhead-budget, or let the program warm up before recording starts",
                    what_is_cold(stages.stages[stage].name, all)));
  }
}

}  // namespace llmprof::analysis
