#pragma once

#include <optional>
#include <vector>

#include "analysis/untraced/launch_passes.h"

namespace llmprof::analysis {

// A pass by the program's own clock.
struct TimedPass {
  uint32_t stage = 0;
  Nanoseconds start = 0;               // start of its first launch
  Nanoseconds before = 0;              // time from the previous launch or wait to `start`
  Nanoseconds launched = 0;            // start of its last launch
  std::optional<Nanoseconds> done;     // when the thread had waited for it; none: it ran ahead
  Nanoseconds next = trace::kOpenEnd;  // start of the first launch after it
  bool followed = true;                // the next pass's launches follow soon
};

// A program that runs ahead may launch a few kernels after its last pass (joining generated tokens)
// before it waits. `prepared`: the host's preparation before an instance, in ns by stage; empty:
// unknown.
std::vector<TimedPass> time_passes(const LaunchSequence& sequence,
                                   const std::vector<LaunchPass>& passes,
                                   const std::vector<double>& prepared = {});

// The times of one stage, over instances or, if the instances of passes are unknown, over runs of
// consecutive passes.
struct PassTimes {
  uint64_t passes = 0;
  uint64_t instances = 0;  // 0: over runs
  double total = 0;        // ns
  double before = 0;       // ns, from the previous launch or wait to each instance
  [[nodiscard]] double per_pass() const { return total / static_cast<double>(passes); }
};

// How instances of a stage end if the host's wait is not noted (the GPU's queue calls it back).
// From the traced run, which shows when the GPU finished.
struct UnnotedEnd {
  // Time until the GPU finished over the time until the next launch after the instance, both from
  // its first launch.
  double share_until_next = 1;
  // From its last launch until the GPU finished, in ns. Without tracing, this is between the GPU's
  // busy time and the traced time, whose gaps include overhead: the mean of both.
  double after_last_launch = 0;
};
// One entry per stage.
std::vector<UnnotedEnd> unnoted_ends(const std::vector<TimedPass>& passes,
                                     const std::vector<LaunchPass>& recorded, const Stages& stages);

// One entry per stage. `busy`: mean GPU busy time per instance, in ns. If the program runs ahead of
// the GPU, a stage ends no sooner than the GPU can have finished its work.
//
// Both runs have the same passes in the same order, so instances correspond. Warm-up is excluded.
std::vector<PassTimes> times_by_instance(const std::vector<TimedPass>& passes,
                                         const std::vector<LaunchPass>& recorded,
                                         const Stages& stages, const std::vector<double>& busy,
                                         const std::vector<UnnotedEnd>& unnoted);

// Adds runs: consecutive passes of one stage without other launches between them, without a host
// pause much longer than a pass, and without single passes that took much longer (a graph is
// captured, a kernel compiled) although each was waited for. Runs with a much longer time per pass
// than the median run are excluded: a program compiles or tunes in its first ones, and not equally
// often in every process. `cut`: the passes are part of a longer sequence, and a run's last pass
// may have no end.
void add_times_by_run(const std::vector<TimedPass>& passes, bool cut,
                      std::vector<PassTimes>& times);

}  // namespace llmprof::analysis
