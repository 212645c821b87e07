#include "analysis/untraced/collector_overhead.h"

#include <cmath>
#include <map>
#include <vector>

#include "analysis/stages/thresholds.h"
#include "analysis/statistics/statistics.h"
#include "analysis/tracing/untraced_gpu_time.h"
#include "base/quantiles.h"

namespace llmprof::analysis {
namespace {

constexpr double kIntervalConfidence = 0.95;

// By step, whether it replayed CUDA graphs.
std::vector<bool> steps_with_graphs(const trace::Trace& trace, const Stages& stages) {
  std::vector<bool> replays(stages.steps.size(), false);
  // By row, which graph or node it is of; 0: none.
  const auto mark = [&](const auto& graphs, const std::vector<StepId>& steps) {
    for (size_t i = 0; i < graphs.size(); ++i) {
      if (graphs[i] != 0 && steps[i].valid()) replays[steps[i].index()] = true;
    }
  };
  mark(trace.kernels.graph, stages.owners.kernel_step);
  mark(trace.kernels.graph_node, stages.owners.kernel_step);
  for (const StepId step : stages.owners.replay_step) {
    if (step.valid()) replays[step.index()] = true;
  }
  return replays;
}

// Consecutive traced steps, and the number of untraced ones before them.
struct Run {
  uint32_t untraced_before = 0;
  Nanoseconds start = 0;  // of their GPU work
  Nanoseconds end = 0;
  std::vector<Nanoseconds> gaps;  // between their work
  bool graphs = false;            // one of them replays graphs
};

std::vector<Run> runs_of(const Stages& stages, const StageInstance& instance,
                         const std::vector<bool>& with_graphs) {
  std::vector<Run> runs;
  for (size_t row = instance.first_step; row < instance.first_step + instance.step_count; ++row) {
    const Step& step = stages.steps[row];
    if (runs.empty() || step.untraced_before > 0) {
      runs.push_back({step.untraced_before, step.work.first_start, 0, {}, false});
    } else {
      runs.back().gaps.push_back(step.work.first_start - runs.back().end);
    }
    runs.back().end = step.work.last_end;
    runs.back().graphs = runs.back().graphs || with_graphs[row];
  }
  return runs;
}

// A window's time before waits between steps are distributed.
struct WindowTime {
  double time = 0;
  double steps = 0;
  double cupti_on = 0;  // of these, steps that cost as much as a traced one
};

struct AllWindows {
  std::vector<WindowTime> traced;
  std::vector<WindowTime> untraced;
  std::vector<Nanoseconds> gaps;  // between steps of traced windows
  bool graphs = false;            // graphs were replayed
};

AllWindows find_windows(const trace::Trace& trace, const Stages& stages, trace::ProcessId process) {
  AllWindows found;
  const std::vector<bool> with_graphs = steps_with_graphs(trace, stages);
  for (const StageInstance& instance : stages.instances) {
    const bool decode = stages.stages[instance.stage].name == to_string(StepKind::decode);
    if (!decode || instance.warmup || instance.process != process) continue;
    uint32_t untraced_left = instance.untraced_steps;
    const Run* before = nullptr;
    const std::vector<Run> runs = runs_of(stages, instance, with_graphs);
    for (const Run& run : runs) {
      untraced_left -= run.untraced_before;
      found.graphs = found.graphs || run.graphs;
      if (run.untraced_before > 0 && (&run != &runs.back() || untraced_left > 0)) {
        found.traced.push_back(
            {as_double(run.end - run.start), static_cast<double>(run.gaps.size() + 1)});
        found.gaps.insert(found.gaps.end(), run.gaps.begin(), run.gaps.end());
      }
      const double still_on = before != nullptr && before->graphs ? 1 : 0;
      if (before != nullptr && run.untraced_before > still_on) {
        found.untraced.push_back({as_double(run.start - before->end),
                                  static_cast<double>(run.untraced_before), still_on});
      }
      before = &run;
    }
  }
  return found;
}

// Traced or untraced windows, in ns per step.
struct WindowFigures {
  profile::TracingWindows windows;
  double mean = 0;           // over windows
  double squared_error = 0;  // of the mean
};

// `gap` is added to each window's time (may be negative). `traced` is a traced step's time.
WindowFigures summarize_windows(const std::vector<WindowTime>& windows, double gap, double traced) {
  WindowFigures result;
  result.windows.windows = windows.size();
  if (windows.empty()) return result;
  const auto count = static_cast<double>(windows.size());
  const auto per_step = [&](const WindowTime& window) {
    return (window.time + gap - window.cupti_on * traced) / (window.steps - window.cupti_on);
  };
  for (const WindowTime& window : windows) {
    result.windows.steps += static_cast<uint64_t>(window.steps - window.cupti_on);
    result.mean += per_step(window) / count;
  }
  result.windows.mean_per_step = to_milliseconds(result.mean);
  if (windows.size() < 2) return result;
  double squares = 0;
  for (const WindowTime& window : windows) {
    squares += (per_step(window) - result.mean) * (per_step(window) - result.mean);
  }
  const double deviation = std::sqrt(squares / (count - 1));
  result.windows.std_per_step = to_milliseconds(deviation);
  result.squared_error = deviation * deviation / count;
  return result;
}

// Half of the 95 % confidence interval of the difference of their means (Welch).
double half_interval(const WindowFigures& a, const WindowFigures& b) {
  const double both = a.squared_error + b.squared_error;
  if (both <= 0) return 0;
  const auto part = [](const WindowFigures& each) {
    return each.squared_error * each.squared_error / static_cast<double>(each.windows.windows - 1);
  };
  return student_t_975(both * both / (part(a) + part(b))) * std::sqrt(both);
}

// The one process whose collector alternated; none if there is none or more than one.
trace::ProcessId alternating_process(const trace::TracingTable& table) {
  trace::ProcessId found;
  for (size_t i = 0; i < table.size(); ++i) {
    const bool duty = table.reason[i] == trace::TracingReason::duty ||
                      table.reason[i] == trace::TracingReason::budget;
    if (!duty || table.process[i] == found) continue;
    if (found.valid()) return {};
    found = table.process[i];
  }
  return found;
}

// The collector's own step counts. A window's last step is followed by the next change.
void count_duty(const trace::TracingTable& table, trace::ProcessId process, bool graphs,
                profile::CollectorOverhead& result) {
  const std::vector<size_t> rows = tracing_change_rows(table, process);
  Nanoseconds cost = 0;
  std::map<uint64_t, uint64_t> traced_windows;
  std::map<uint64_t, uint64_t> untraced_windows;
  for (size_t i = 0; i < rows.size(); ++i) {
    const bool tracing = table.state[rows[i]] == trace::TracingState::tracing;
    const bool before = i > 0 && table.state[rows[i - 1]] == trace::TracingState::tracing;
    if (tracing != before) {
      ++result.switches;
      cost += table.cost[rows[i]];
    }
    if (i + 1 == rows.size()) break;
    const uint64_t steps = table.step[rows[i + 1]] - table.step[rows[i]];
    result.steps_all += steps;
    if (tracing) result.steps_traced += steps;
    if (graphs && before && !tracing && steps > 0) ++result.steps_cupti_on;
    const bool whole = table.reason[rows[i]] == table.reason[rows[i + 1]];
    if (whole && steps > 0) ++(tracing ? traced_windows : untraced_windows)[steps];
  }
  result.switch_cost = to_milliseconds(cost);
  const auto usual = [](const std::map<uint64_t, uint64_t>& windows) {
    return windows.empty() ? 0 : most_frequent(windows).first;
  };
  const uint64_t traced = usual(traced_windows);
  const uint64_t untraced = usual(untraced_windows);
  result.duty_traced = unless_zero(traced);
  if (traced > 0 && untraced > 0) result.duty_period = traced + untraced;
}

void measure(const AllWindows& found, profile::CollectorOverhead& result) {
  const double gap = summarize(found.gaps).mean;
  const WindowFigures traced = summarize_windows(found.traced, gap, 0);
  const WindowFigures untraced = summarize_windows(found.untraced, -gap, traced.mean);
  result.gap = to_milliseconds(gap);
  result.traced = traced.windows;
  result.untraced = untraced.windows;
  if (found.traced.size() < threshold::kSeveral || found.untraced.size() < threshold::kSeveral) {
    profile::FindingValues values;
    values.add("windows_needed", threshold::kSeveral)
        .add("traced_windows", found.traced.size())
        .add("untraced_windows", found.untraced.size());
    result.why_not_reasons = {make_reason(profile::ReasonKind::few_tracing_windows, values)};
    return;
  }
  const double added = traced.mean - untraced.mean;
  const double half = half_interval(traced, untraced);
  result.added_per_step = to_milliseconds(added);
  result.low_per_step = to_milliseconds(added - half);
  result.high_per_step = to_milliseconds(added + half);
  const double share_of_step = added / untraced.mean;
  result.share_of_untraced_step = profile::Share{share_of_step};
  if (result.steps_all > 0) {
    const auto steps = static_cast<double>(result.steps_traced + result.steps_cupti_on);
    result.share_of_decode =
        profile::Share{share_of_step * steps / static_cast<double>(result.steps_all)};
  }
}

}  // namespace

std::optional<profile::CollectorOverhead> collector_overhead(const trace::Trace& trace,
                                                             const Stages& stages) {
  const trace::ProcessId process = alternating_process(trace.tracing_changes);
  if (!process.valid()) return std::nullopt;
  profile::CollectorOverhead result;
  result.interval_confidence = {kIntervalConfidence};
  const AllWindows found = find_windows(trace, stages, process);
  count_duty(trace.tracing_changes, process, found.graphs, result);
  measure(found, result);
  return result;
}

}  // namespace llmprof::analysis
