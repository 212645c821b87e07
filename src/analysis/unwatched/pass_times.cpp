#include "analysis/unwatched/pass_times.h"

#include <algorithm>

namespace llmprof::analysis {
namespace {

// A wait of the host that is so many times longer than a pass is between two requests, a pass that
// is so much longer than the median one is not like the others.
constexpr double kPause = 5;

double as_double(Nanoseconds time) { return static_cast<double>(time); }

// The end of the last wait that began in [from, before).
std::optional<Nanoseconds> last_wait(const std::vector<LaunchSequence::Wait>& waits,
                                     Nanoseconds from, Nanoseconds before) {
  const auto behind = std::lower_bound(
      waits.begin(), waits.end(), before,
      [](const LaunchSequence::Wait& wait, Nanoseconds time) { return wait.start < time; });
  if (behind == waits.begin()) return std::nullopt;
  const LaunchSequence::Wait& last = *(behind - 1);
  return last.start >= from ? std::optional(last.end) : std::nullopt;
}

// The first wait that began in [from, before).
std::optional<LaunchSequence::Wait> first_wait(const std::vector<LaunchSequence::Wait>& waits,
                                               Nanoseconds from, Nanoseconds before) {
  const auto found = std::lower_bound(
      waits.begin(), waits.end(), from,
      [](const LaunchSequence::Wait& wait, Nanoseconds time) { return wait.start < time; });
  if (found == waits.end() || found->start >= before) return std::nullopt;
  return *found;
}

// When the GPU had ended an instance whose last pass nobody waited for: at the least, when its work
// can have been done. Where the thread launched a little more and then waited, and that work must
// still have been running, or the wait is longer than launching the little took, it is the wait
// that tells the end.
double end_of_ahead(const TimedPass& last, double start, double busy) {
  const double soonest = std::max(as_double(last.next), start + busy);
  if (!last.drained) return soonest;
  const LaunchSequence::Wait& wait = *last.drained;
  const bool still_running =
      as_double(wait.start) <= soonest || wait.end - wait.start > wait.start - last.next;
  return still_running ? as_double(wait.end) : soonest;
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

}  // namespace

std::vector<TimedPass> time_passes(const LaunchSequence& sequence,
                                   const std::vector<LaunchPass>& passes) {
  std::vector<TimedPass> timed;
  for (size_t i = 0; i < passes.size(); ++i) {
    const LaunchPass& pass = passes[i];
    TimedPass row;
    row.stage = pass.stage;
    row.start = sequence.start[pass.first];
    if (pass.end < sequence.size()) row.next = sequence.start[pass.end];
    row.done = last_wait(sequence.waits, sequence.start[pass.end - 1], row.next);
    const Nanoseconds next_pass_launched =
        i + 1 < passes.size() ? sequence.start[passes[i + 1].end - 1] : trace::kOpenEnd;
    row.drained = first_wait(sequence.waits, row.next, next_pass_launched);
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
      ended = end_of_ahead(last, start, busy[stage]);
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
  for (size_t first = 0; first < passes.size();) {
    if (is_odd(first)) {
      ++first;
      continue;
    }
    size_t last = first;
    while (last + 1 < passes.size() && passes[last + 1].stage == passes[first].stage &&
           !pauses_after(last) && !is_odd(last + 1)) {
      ++last;
    }
    PassTimes& of_stage = times[passes[first].stage];
    const TimedPass& ends = passes[last];
    const bool at_the_cut = cut && last + 1 == passes.size();
    if (ends.done) {
      of_stage.total += as_double(*ends.done - passes[first].start);
      of_stage.passes += last - first + 1;
    } else if (!at_the_cut && ends.next != trace::kOpenEnd) {
      of_stage.total += as_double(ends.next - passes[first].start);
      of_stage.passes += last - first + 1;
    } else {
      of_stage.total += as_double(ends.start - passes[first].start);
      of_stage.passes += last - first;
    }
    first = last + 1;
  }
}

}  // namespace llmprof::analysis
