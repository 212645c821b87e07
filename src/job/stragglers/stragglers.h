#pragma once

#include <optional>
#include <vector>

#include "job/waits/measure_waits.h"

namespace llmprof::job {

// Ranks that others wait for: in most collectives, or for long in a few. Groups of pipelines are
// left out, since a stage of one always waits for the one before it. In stages without matched
// collectives: ranks whose steps take longer. Longest wait first. Of the comparison, clocks, groups
// and the ranks' stages are known.
std::vector<profile::Straggler> find_stragglers(const std::vector<RankPart>& parts,
                                                const std::vector<MatchedLane>& lanes,
                                                const RankComparison& comparison,
                                                const Units& units, const Waits& waits);

// What distinguishes one rank from the others, per step of the job; times in ns.
struct RankAgainstOthers {
  bool by_step = true;  // else times are of the whole timeline
  bool on_cpu = false;  // operators of the program itself: nothing is launched
  double wait = 0;      // for this rank
  // Where it came last: how much longer it computed before, and how much later it launched.
  double busy_longer = 0;
  std::optional<double> launched_later;
  double busy = 0;  // in all collectives' intervals
  double busy_of_others = 0;
  std::optional<double> tokens;
  std::optional<double> tokens_of_others;
  std::optional<double> clock;  // Hz
  std::optional<double> clock_of_others;
};

struct Cause {
  profile::StragglerCause cause;
  profile::Reason why;
};

// More tokens before lower clocks before longer kernels: each explains the next.
Cause find_cause(const RankAgainstOthers& rank);

}  // namespace llmprof::job
