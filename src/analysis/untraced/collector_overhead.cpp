#include "analysis/untraced/collector_overhead.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <span>
#include <vector>

#include "analysis/statistics/statistics.h"
#include "analysis/statistics/values.h"
#include "base/quantiles.h"

namespace llmprof::analysis {
namespace {

constexpr double kIntervalConfidence = 0.95;
constexpr size_t kFewestWindows = 3;

// A step's GPU work, from first start to last end.
struct StepSpan {
  bool replays_graphs = false;
  Nanoseconds first_start = INT64_MAX;
  Nanoseconds last_end = INT64_MIN;
};

std::vector<StepSpan> step_spans(const trace::Trace& trace, const Stages& stages) {
  std::vector<StepSpan> spans(stages.steps.size());
  const auto extend = [&](const auto& table, const std::vector<StepId>& owners,
                          const auto& in_graph) {
    for (size_t i = 0; i < table.size(); ++i) {
      if (!owners[i].valid()) continue;
      StepSpan& span = spans[owners[i].index()];
      span.first_start = std::min(span.first_start, table.start[i]);
      span.last_end = std::max(span.last_end, table.end[i]);
      span.replays_graphs = span.replays_graphs || in_graph(i);
    }
  };
  const trace::KernelTable& kernels = trace.kernels;
  extend(kernels, stages.owners.kernel_step, [&](size_t row) {
    return (row < kernels.graph.size() && kernels.graph[row] != 0) ||
           (row < kernels.graph_node.size() && kernels.graph_node[row] != 0);
  });
  extend(trace.memory_operations, stages.owners.memory_step, [](size_t) { return false; });
  extend(trace.graph_replays, stages.owners.replay_step, [](size_t) { return true; });
  return spans;
}

// Consecutive traced steps, and the number of untraced ones before them.
struct Run {
  size_t first = 0;  // row of Stages::steps
  size_t count = 0;
  uint32_t untraced_before = 0;
};

std::vector<Run> runs_of(const Stages& stages, const StageInstance& instance) {
  std::vector<Run> runs;
  for (size_t i = 0; i < instance.step_count; ++i) {
    const size_t row = instance.first_step + i;
    const uint32_t untraced = stages.steps[row].untraced_before;
    if (runs.empty() || untraced > 0) runs.push_back({row, 0, untraced});
    ++runs.back().count;
  }
  return runs;
}

// A window's time before waits between steps are distributed.
struct WindowTime {
  double time = 0;
  double steps = 0;
  double cupti_on = 0;  // of these, steps that cost as much as a traced one
};

struct Found {
  std::vector<WindowTime> traced;
  std::vector<WindowTime> untraced;
  double gaps = 0;  // ns
  double gap_count = 0;
  bool graphs = false;  // graphs were replayed
};

bool any_replays_graphs(std::span<const StepSpan> steps) {
  return std::ranges::any_of(steps, &StepSpan::replays_graphs);
}

void add_instance(const StageInstance& instance, std::span<const Run> runs,
                  std::span<const StepSpan> spans, Found& found) {
  uint32_t untraced_left = instance.untraced_steps;
  for (const Run& run : runs) untraced_left -= run.untraced_before;
  for (size_t i = 0; i < runs.size(); ++i) {
    const Run& run = runs[i];
    const Nanoseconds begun = spans[run.first].first_start;
    const bool untraced_follows = i + 1 < runs.size() || untraced_left > 0;
    if (run.untraced_before > 0 && untraced_follows) {
      const Nanoseconds ended = spans[run.first + run.count - 1].last_end;
      found.traced.push_back({static_cast<double>(ended - begun), static_cast<double>(run.count)});
      for (size_t s = run.first + 1; s < run.first + run.count; ++s) {
        found.gaps += static_cast<double>(spans[s].first_start - spans[s - 1].last_end);
        ++found.gap_count;
      }
    }
    if (i > 0) {
      const Run& before = runs[i - 1];
      const Nanoseconds ended = spans[before.first + before.count - 1].last_end;
      const double still_on = any_replays_graphs(spans.subspan(before.first, before.count)) ? 1 : 0;
      if (run.untraced_before > still_on) {
        found.untraced.push_back({static_cast<double>(begun - ended),
                                  static_cast<double>(run.untraced_before), still_on});
      }
    }
  }
}

Found find_windows(const trace::Trace& trace, const Stages& stages, trace::ProcessId process) {
  Found found;
  const std::vector<StepSpan> spans = step_spans(trace, stages);
  for (const StageInstance& instance : stages.instances) {
    const bool decode = stages.stages[instance.stage].name == to_string(StepKind::decode);
    if (!decode || instance.warmup || instance.process != process) continue;
    add_instance(instance, runs_of(stages, instance), spans, found);
    found.graphs = found.graphs || any_replays_graphs(std::span(spans).subspan(
                                       instance.first_step, instance.step_count));
  }
  return found;
}

// Traced or untraced windows, in ns per step.
struct WindowFigures {
  uint64_t windows = 0;
  uint64_t steps = 0;    // in all windows
  double mean = 0;       // over windows
  double deviation = 0;  // over windows, n - 1
};

profile::TracingWindows told(const WindowFigures& from) {
  profile::TracingWindows windows{from.windows, from.steps, {}, {}};
  if (from.windows > 0) windows.mean_per_step = to_milliseconds(from.mean);
  if (from.windows > 1) windows.std_per_step = to_milliseconds(from.deviation);
  return windows;
}

// `gap` is added to each window's time (may be negative). `traced` is a traced step's time.
WindowFigures summarize_windows(const std::vector<WindowTime>& windows, double gap, double traced) {
  WindowFigures result;
  result.windows = windows.size();
  if (windows.empty()) return result;
  const auto count = static_cast<double>(windows.size());
  const auto per_step = [&](const WindowTime& window) {
    return (window.time + gap - window.cupti_on * traced) / (window.steps - window.cupti_on);
  };
  for (const WindowTime& window : windows) {
    result.steps += static_cast<uint64_t>(window.steps - window.cupti_on);
    result.mean += per_step(window) / count;
  }
  if (windows.size() < 2) return result;
  double squares = 0;
  for (const WindowTime& window : windows) {
    const double apart = per_step(window) - result.mean;
    squares += apart * apart;
  }
  result.deviation = std::sqrt(squares / (count - 1));
  return result;
}

// Half of the 95 % confidence interval of the difference of their means.
double welch_half(const WindowFigures& a, const WindowFigures& b) {
  const auto error = [](const WindowFigures& windows) {
    return windows.deviation * windows.deviation / static_cast<double>(windows.windows);
  };
  const double of_a = error(a);
  const double of_b = error(b);
  const double both = of_a + of_b;
  if (both <= 0) return 0;
  const double freedom = both * both /
                         (of_a * of_a / static_cast<double>(a.windows - 1) +
                          of_b * of_b / static_cast<double>(b.windows - 1));
  return student_t_975(freedom) * std::sqrt(both);
}

// The one process whose collector alternated; none if there is none or more than one.
trace::ProcessId alternating_process(const trace::CollectionTable& table) {
  trace::ProcessId found;
  for (size_t i = 0; i < table.size(); ++i) {
    const bool duty = table.reason[i] == trace::CollectionReason::duty ||
                      table.reason[i] == trace::CollectionReason::budget;
    if (!duty || table.process[i] == found) continue;
    if (found.valid()) return {};
    found = table.process[i];
  }
  return found;
}

// The collector's own step counts. A window's last step is followed by the next change.
void count_duty(const trace::CollectionTable& table, trace::ProcessId process, bool graphs,
                profile::CollectorOverhead& result) {
  std::vector<size_t> rows;
  for (size_t i = 0; i < table.size(); ++i) {
    if (table.process[i] == process) rows.push_back(i);
  }
  std::stable_sort(rows.begin(), rows.end(),
                   [&](size_t a, size_t b) { return table.time[a] < table.time[b]; });
  Nanoseconds cost = 0;
  std::map<uint64_t, uint64_t> traced_windows;
  std::map<uint64_t, uint64_t> untraced_windows;
  for (size_t i = 0; i < rows.size(); ++i) {
    const bool tracing = table.state[rows[i]] == trace::CollectionState::tracing;
    const bool before = i > 0 && table.state[rows[i - 1]] == trace::CollectionState::tracing;
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

void measure(const Found& found, profile::CollectorOverhead& result) {
  const double gap = found.gap_count > 0 ? found.gaps / found.gap_count : 0;
  const WindowFigures traced = summarize_windows(found.traced, gap, 0);
  const WindowFigures untraced = summarize_windows(found.untraced, -gap, traced.mean);
  result.gap = to_milliseconds(gap);
  result.traced = told(traced);
  result.untraced = told(untraced);
  if (found.traced.size() < kFewestWindows || found.untraced.size() < kFewestWindows) {
    profile::FindingValues values;
    values.add("windows_needed", kFewestWindows)
        .add("traced_windows", found.traced.size())
        .add("untraced_windows", found.untraced.size());
    result.why_not_reasons = {make_reason(profile::ReasonKind::few_tracing_windows, values)};
    return;
  }
  const double added = traced.mean - untraced.mean;
  const double half = welch_half(traced, untraced);
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
  const trace::ProcessId process = alternating_process(trace.collection);
  if (!process.valid()) return std::nullopt;
  profile::CollectorOverhead result;
  result.interval_confidence = {kIntervalConfidence};
  const Found found = find_windows(trace, stages, process);
  count_duty(trace.collection, process, found.graphs, result);
  measure(found, result);
  return result;
}

}  // namespace llmprof::analysis
