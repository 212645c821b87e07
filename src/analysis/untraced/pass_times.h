#pragma once

#include <optional>
#include <vector>

#include "analysis/untraced/launch_passes.h"

namespace llmprof::analysis {

// A pass by the program's own clock.
struct TimedPass {
  uint32_t stage = 0;
  Nanoseconds start = 0;               // of its first launch
  Nanoseconds before = 0;              // from the launch or wait before it until then
  Nanoseconds launched = 0;            // start of its last launch
  std::optional<Nanoseconds> done;     // the thread had waited for it; none: it ran ahead
  Nanoseconds next = trace::kOpenEnd;  // of the first launch after it
  bool followed = true;                // the next pass's launches come soon after its own
};

// A program that runs ahead may launch a few kernels after its last pass (generated tokens are
// joined) before it waits for all of it. `prepared`: what the host does before an instance, ns by
// stage; empty: not known.
std::vector<TimedPass> time_passes(const LaunchSequence& sequence,
                                   const std::vector<LaunchPass>& passes,
                                   const std::vector<double>& prepared = {});

// The times of one stage, over instances or, where passes were found without knowing what instance
// they are of, over runs of passes in a row.
struct PassTimes {
  uint64_t passes = 0;
  uint64_t instances = 0;  // 0: runs
  double total = 0;        // ns
  double before = 0;       // ns, from the launch or wait before each instance
  [[nodiscard]] double per_pass() const { return total / static_cast<double>(passes); }
};

// How the instances of a stage end that the host waits for in no way that is noted (it is called
// back by the GPU's queue): what the traced run shows, which knows when the GPU had ended.
struct UnnotedEnd {
  // Of the time from the first launch to the next one behind the instance, the share until the GPU
  // had ended.
  double share_until_next = 1;
  // From its last launch until the GPU had ended, ns. Without tracing that is between the GPU's
  // busy time and the traced time, in which tracing lengthened the gaps: the middle of both.
  double after_last_launch = 0;
};
// One entry per stage.
std::vector<UnnotedEnd> unnoted_ends(const std::vector<TimedPass>& passes,
                                     const std::vector<LaunchPass>& recorded, const Stages& stages);

// One entry per stage. `busy`: the GPU's busy time of an instance, ns, mean: where the program runs
// ahead of the GPU, a stage ends no sooner than the GPU can have ended its work.
//
// Both runs have the same passes in the same order: those of an instance in one are those of the
// same instance in the other. Warm-up is left out.
std::vector<PassTimes> times_by_instance(const std::vector<TimedPass>& passes,
                                         const std::vector<LaunchPass>& recorded,
                                         const Stages& stages, const std::vector<double>& busy,
                                         const std::vector<UnnotedEnd>& unnoted);

// Passes of one stage in a row, without other launches in between, without a pause of the host that
// is much longer than a pass, and without single passes that took so much longer (a graph is
// captured, a kernel compiled) although each was waited for. Runs whose passes take much longer
// than the median run's are left out: a program compiles or tunes within its first ones, and not
// equally often in every process. `cut`: the passes are part of a longer sequence, and the last
// pass of a run may have no end.
void add_times_by_run(const std::vector<TimedPass>& passes, bool cut,
                      std::vector<PassTimes>& times);

}  // namespace llmprof::analysis
