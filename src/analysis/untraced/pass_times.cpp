#include "analysis/untraced/pass_times.h"

#include <algorithm>

#include "analysis/stages/thresholds.h"
#include "analysis/statistics/statistics.h"

namespace llmprof::analysis {
namespace {

// The end of the last wait that started in [from, before).
std::optional<Nanoseconds> last_wait(const LaunchSequence& sequence, Nanoseconds from,
                                     Nanoseconds before) {
  const auto behind = sequence.first_wait_from(before);
  if (behind == sequence.waits.begin()) return std::nullopt;
  const LaunchSequence::Wait& last = *(behind - 1);
  if (last.start < from) return std::nullopt;
  const LaunchSequence::Wait& first = *sequence.first_wait_from(from);
  const bool late = first.start - from > threshold::kLateWait * (first.end - first.start);
  return late ? std::nullopt : std::optional(last.end);
}

// The end of the first wait that started in [from, before).
std::optional<Nanoseconds> first_wait(const LaunchSequence& sequence, Nanoseconds from,
                                      Nanoseconds before) {
  const auto found = sequence.first_wait_from(from);
  if (found == sequence.waits.end() || found->start >= before) return std::nullopt;
  return found->end;
}

// The first launch that belongs to the pass itself.
size_t own_first(const LaunchSequence& sequence, const LaunchPass& pass) {
  if (pass.end - pass.first < threshold::kLongPass) return pass.first;
  const Nanoseconds begin = sequence.start[pass.first];
  for (size_t i = pass.first + 1; i <= pass.first + threshold::kFewestLaunches; ++i) {
    const auto wait = sequence.first_wait_from(sequence.start[i - 1]);
    if (wait == sequence.waits.end() || wait->start >= sequence.start[i]) continue;
    if (wait->end - wait->start > threshold::kFarMore * (wait->start - begin)) return i;
  }
  return pass.first;
}

// The previous launch, or the end of a wait after it; for the first launch, the launch itself.
Nanoseconds last_event_before(const LaunchSequence& sequence, size_t launch) {
  if (launch == 0) return sequence.start[launch];
  const Nanoseconds before = sequence.start[launch - 1];
  const auto behind = sequence.first_wait_from(sequence.start[launch]);
  if (behind == sequence.waits.begin()) return before;
  return std::clamp((behind - 1)->end, before, sequence.start[launch]);
}

// Start of a pass whose first launches are captured into its graph. Another run may capture more
// kernels (its compiler chose others): these start after the pause in which the host prepares the
// pass.
size_t captured_first(const LaunchSequence& sequence, const LaunchPass& pass, size_t from,
                      double prepared) {
  const size_t first = own_first(sequence, pass) - pass.lead;
  if (pass.lead == 0 || prepared <= 0) return first;
  for (size_t launch = first; launch > from && first - launch <= pass.lead; --launch) {
    const auto pause = as_double(sequence.start[launch] - sequence.start[launch - 1]);
    if (2 * pause >= prepared) return launch;
  }
  return first;
}

double median_period(const std::vector<TimedPass>& passes, uint32_t stage) {
  std::vector<Nanoseconds> periods;
  for (size_t i = 0; i + 1 < passes.size(); ++i) {
    if (passes[i].stage == stage && passes[i + 1].stage == stage) {
      periods.push_back(passes[i + 1].start - passes[i].start);
    }
  }
  return periods.empty() ? 0 : as_double(median(std::span(periods)));
}

// If the next launch follows at once, it shows the end. Otherwise the host does so much in between,
// slowed down by tracing, that the last launch is the better sign.
double unnoted_end(const TimedPass& last, double start, const UnnotedEnd& traced) {
  const double until_next = as_double(last.next) - start;
  if (traced.share_until_next >= threshold::kAlmostAll)
    return start + until_next * traced.share_until_next;
  return std::min(as_double(last.next), as_double(last.launched) + traced.after_last_launch);
}

// Calls `visit(first, end)` for the passes of each instance, in order.
template <class Visit>
void each_instance(const std::vector<LaunchPass>& recorded, const Visit& visit) {
  for (size_t first = 0; first < recorded.size();) {
    size_t end = first + 1;
    while (end < recorded.size() && recorded[end].instance == recorded[first].instance) ++end;
    visit(first, end);
    first = end;
  }
}

struct RunOfOneStage : PassTimes {
  uint32_t stage = 0;
};

// For each stage, the time per pass in the run that contains the median pass.
std::vector<double> median_runs(std::vector<RunOfOneStage> runs, size_t stages) {
  std::ranges::sort(runs, {}, &RunOfOneStage::per_pass);
  std::vector<uint64_t> passes(stages, 0);
  for (const RunOfOneStage& run : runs) passes[run.stage] += run.passes;
  std::vector<uint64_t> seen(stages, 0);
  std::vector<double> medians(stages, 0);
  for (const RunOfOneStage& run : runs) {
    if (2 * seen[run.stage] < passes[run.stage]) medians[run.stage] = run.per_pass();
    seen[run.stage] += run.passes;
  }
  return medians;
}

}  // namespace

std::vector<TimedPass> time_passes(const LaunchSequence& sequence,
                                   const std::vector<LaunchPass>& passes,
                                   const std::vector<double>& prepared) {
  const auto start_of = [&](size_t launch) {
    return launch < sequence.size() ? sequence.start[launch] : trace::kOpenEnd;
  };
  std::vector<TimedPass> timed;
  for (size_t i = 0; i < passes.size(); ++i) {
    const LaunchPass& pass = passes[i];
    const size_t next_pass = i + 1 < passes.size()
                                 ? own_first(sequence, passes[i + 1]) - passes[i + 1].lead
                                 : sequence.size();
    TimedPass row;
    row.stage = pass.stage;
    const size_t first = captured_first(sequence, pass, i > 0 ? passes[i - 1].end : 0,
                                        prepared.empty() ? 0 : prepared[pass.stage]);
    row.start = sequence.start[first];
    row.before = row.start - last_event_before(sequence, first);
    row.launched = sequence.start[pass.end - 1];
    row.next = start_of(pass.end);
    row.done = last_wait(sequence, sequence.start[pass.end - 1], row.next);
    if (!row.done && next_pass > pass.end) {
      const size_t few = std::min(next_pass, pass.end + threshold::kBetweenPasses);
      row.done = first_wait(sequence, row.next, start_of(few));
    }
    row.followed = i + 1 < passes.size() && next_pass - pass.end <= threshold::kBetweenPasses;
    timed.push_back(row);
  }
  return timed;
}

std::vector<UnnotedEnd> unnoted_ends(const std::vector<TimedPass>& passes,
                                     const std::vector<LaunchPass>& recorded,
                                     const Stages& stages) {
  std::vector<std::vector<double>> shares(stages.stages.size());
  std::vector<std::vector<double>> after_launch(stages.stages.size());
  each_instance(recorded, [&](size_t first, size_t end) {
    const StageInstance& row = stages.instances[recorded[first].instance.index()];
    const TimedPass& last = passes[end - 1];
    const bool ends_with_next = !last.done && last.next != trace::kOpenEnd;
    if (ends_with_next && !row.warmup && last.next > passes[first].start) {
      shares[row.stage].push_back(as_double(row.end - passes[first].start) /
                                  as_double(last.next - passes[first].start));
      const double traced = std::max(as_double(row.end - last.launched), 0.0);
      const double busy =
          as_double(row.work.busy) / std::max(1.0, static_cast<double>(end - first));
      after_launch[row.stage].push_back((traced + std::min(traced, busy)) / 2);
    }
  });
  std::vector<UnnotedEnd> ends(stages.stages.size());
  for (size_t stage = 0; stage < ends.size(); ++stage) {
    if (shares[stage].empty()) continue;
    ends[stage].share_until_next = std::clamp(median(shares[stage]), 0.0, 1.0);
    ends[stage].after_last_launch = median(after_launch[stage]);
  }
  return ends;
}

std::vector<PassTimes> times_by_instance(const std::vector<TimedPass>& passes,
                                         const std::vector<LaunchPass>& recorded,
                                         const Stages& stages, const std::vector<double>& busy,
                                         const std::vector<UnnotedEnd>& unnoted) {
  std::vector<PassTimes> times(stages.stages.size());
  double reached = 0;  // when the GPU is free for the next instance, if the program runs ahead
  each_instance(recorded, [&](size_t first, size_t end) {
    const InstanceId instance = recorded[first].instance;
    const uint32_t stage = recorded[first].stage;
    const TimedPass& last = passes[end - 1];
    const double start = std::max(as_double(passes[first].start), reached);
    double ended = 0;
    if (last.done) {
      ended = as_double(*last.done);
      reached = 0;
    } else if (last.next != trace::kOpenEnd) {
      ended = std::max(unnoted_end(last, start, unnoted[stage]), start + busy[stage]);
      reached = ended;
    }
    if (ended > start && !stages.instances[instance.index()].warmup) {
      times[stage].passes += end - first;
      times[stage].total += ended - start;
      times[stage].before += as_double(passes[first].before);
      ++times[stage].instances;
    }
  });
  return times;
}

void add_times_by_run(const std::vector<TimedPass>& passes, bool cut,
                      std::vector<PassTimes>& times) {
  std::vector<double> medians(times.size());
  for (uint32_t stage = 0; stage < times.size(); ++stage) {
    medians[stage] = median_period(passes, stage);
  }
  const auto pauses_after = [&](size_t row) {
    const TimedPass& pass = passes[row];
    if (!pass.done || medians[pass.stage] <= 0) return false;
    return as_double(passes[row + 1].start - *pass.done) >
           threshold::kFarMore * medians[pass.stage];
  };
  // The host waited before and after it, so its time is its own.
  const auto is_odd = [&](size_t row) {
    const TimedPass& pass = passes[row];
    const bool alone = row == 0 || passes[row - 1].done;
    return alone && pass.done && medians[pass.stage] > 0 &&
           as_double(*pass.done - pass.start) > threshold::kFarMore * medians[pass.stage];
  };
  std::vector<RunOfOneStage> runs;
  for (size_t first = 0; first < passes.size();) {
    if (is_odd(first)) {
      ++first;
      continue;
    }
    size_t last = first;
    while (last + 1 < passes.size() && passes[last + 1].stage == passes[first].stage &&
           passes[last].followed && !pauses_after(last) && !is_odd(last + 1)) {
      ++last;
    }
    const TimedPass& ends = passes[last];
    const bool at_the_cut = cut && last + 1 == passes.size();
    RunOfOneStage run;
    run.stage = passes[first].stage;
    run.passes = last - first + 1;
    if (ends.done) {
      run.total = as_double(*ends.done - passes[first].start);
    } else if (!at_the_cut && ends.next != trace::kOpenEnd) {
      run.total = as_double(ends.next - passes[first].start);
    } else {
      run.total = as_double(ends.start - passes[first].start);
      --run.passes;
    }
    if (run.passes > 0) runs.push_back(run);
    first = last + 1;
  }
  const std::vector<double> usual = median_runs(runs, times.size());
  for (const RunOfOneStage& run : runs) {
    if (run.per_pass() > threshold::kClearlyMore * usual[run.stage]) continue;
    times[run.stage].passes += run.passes;
    times[run.stage].total += run.total;
  }
}

}  // namespace llmprof::analysis
