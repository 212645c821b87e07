#include "analysis/unwatched/pass_times.h"

#include <algorithm>

namespace llmprof::analysis {
namespace {

// A wait of the host that is so many times longer than a pass is between two requests, a pass that
// is so much longer than the median one is not like the others.
constexpr double kPause = 5;

// Other launches between a pass and the wait for it, or between two passes of a run.
constexpr size_t kFewLaunches = 16;
// A run's passes are so much longer than those of most.
constexpr double kSlowRun = 2;

// A pass of many launches: a long wait behind one of its first few ends what came before.
constexpr size_t kManyLaunches = 64;
constexpr size_t kFirstFew = 8;
constexpr Nanoseconds kLongWait = 4;  // times what the host did in the pass before

double as_double(Nanoseconds time) { return static_cast<double>(time); }

// The end of the last wait that began in [from, before).
std::optional<Nanoseconds> last_wait(const LaunchSequence& sequence, Nanoseconds from,
                                     Nanoseconds before) {
  const auto behind = sequence.first_wait_from(before);
  if (behind == sequence.waits.begin()) return std::nullopt;
  const LaunchSequence::Wait& last = *(behind - 1);
  return last.start >= from ? std::optional(last.end) : std::nullopt;
}

// The end of the first wait that began in [from, before).
std::optional<Nanoseconds> first_wait(const LaunchSequence& sequence, Nanoseconds from,
                                      Nanoseconds before) {
  const auto found = sequence.first_wait_from(from);
  if (found == sequence.waits.end() || found->start >= before) return std::nullopt;
  return found->end;
}

// The pass's first launch of its own.
size_t own_first(const LaunchSequence& sequence, const LaunchPass& pass) {
  if (pass.end - pass.first < kManyLaunches) return pass.first;
  const Nanoseconds begin = sequence.start[pass.first];
  for (size_t i = pass.first + 1; i <= pass.first + kFirstFew; ++i) {
    const auto wait = sequence.first_wait_from(sequence.start[i - 1]);
    if (wait == sequence.waits.end() || wait->start >= sequence.start[i]) continue;
    if (wait->end - wait->start > kLongWait * (wait->start - begin)) return i;
  }
  return pass.first;
}

double median_period(const std::vector<TimedPass>& passes, uint32_t stage) {
  std::vector<Nanoseconds> periods;
  for (size_t i = 0; i + 1 < passes.size(); ++i) {
    if (passes[i].stage == stage && passes[i + 1].stage == stage) {
      periods.push_back(passes[i + 1].start - passes[i].start);
    }
  }
  return periods.empty() ? 0 : as_double(nearest_rank(periods, 0.5));
}

struct RunOfOneStage {
  uint32_t stage = 0;
  uint64_t passes = 0;
  double total = 0;
  [[nodiscard]] double per_pass() const { return total / static_cast<double>(passes); }
};

// Of each stage, what a pass takes in the run that holds the middle pass.
std::vector<double> median_runs(std::vector<RunOfOneStage> runs, size_t stages) {
  std::sort(runs.begin(), runs.end(), [](const RunOfOneStage& a, const RunOfOneStage& b) {
    return a.per_pass() < b.per_pass();
  });
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
                                   const std::vector<LaunchPass>& passes) {
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
    row.start = sequence.start[own_first(sequence, pass) - pass.lead];
    row.next = start_of(pass.end);
    row.done = last_wait(sequence, sequence.start[pass.end - 1], row.next);
    if (!row.done && next_pass > pass.end) {
      const size_t few = std::min(next_pass, pass.end + kFewLaunches);
      row.done = first_wait(sequence, row.next, start_of(few));
    }
    row.followed = i + 1 < passes.size() && next_pass - pass.end <= kFewLaunches;
    timed.push_back(row);
  }
  return timed;
}

std::vector<PassTimes> times_by_instance(const std::vector<TimedPass>& passes,
                                         const std::vector<LaunchPass>& recorded,
                                         const Stages& stages, const std::vector<double>& busy) {
  std::vector<PassTimes> times(stages.stages.size());
  double reached = 0;  // when the GPU is free for the next instance, if the program runs ahead
  for (size_t first = 0; first < recorded.size();) {
    const InstanceId instance = recorded[first].instance;
    size_t end = first + 1;
    while (end < recorded.size() && recorded[end].instance == instance) ++end;
    const uint32_t stage = recorded[first].stage;
    const TimedPass& last = passes[end - 1];
    const double start = std::max(as_double(passes[first].start), reached);
    double ended = 0;
    if (last.done) {
      ended = as_double(*last.done);
      reached = 0;
    } else if (last.next != trace::kOpenEnd) {
      ended = std::max(as_double(last.next), start + busy[stage]);
      reached = ended;
    }
    if (ended > start && !stages.instances[instance.index()].warmup) {
      times[stage].passes += end - first;
      times[stage].total += ended - start;
      ++times[stage].instances;
    }
    first = end;
  }
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
    return as_double(passes[row + 1].start - *pass.done) > kPause * medians[pass.stage];
  };
  // Waited for on both sides: what it took is its own.
  const auto is_odd = [&](size_t row) {
    const TimedPass& pass = passes[row];
    const bool alone = row == 0 || passes[row - 1].done;
    return alone && pass.done && medians[pass.stage] > 0 &&
           as_double(*pass.done - pass.start) > kPause * medians[pass.stage];
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
    RunOfOneStage run{passes[first].stage, last - first + 1, 0};
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
    if (run.per_pass() > kSlowRun * usual[run.stage]) continue;
    times[run.stage].passes += run.passes;
    times[run.stage].total += run.total;
  }
}

}  // namespace llmprof::analysis
