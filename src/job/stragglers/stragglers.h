#pragma once

#include <optional>
#include <vector>

#include "job/waits/measure_waits.h"

namespace llmprof::job {

// Ranks that delay others: in most collectives, or for long in a few. Pipeline groups are excluded,
// since a pipeline stage always waits for the previous one. In stages without matched collectives:
// ranks whose steps take longer. Longest wait first. Needs the comparison's clocks, groups and rank
// stages.
std::vector<profile::Straggler> find_stragglers(const std::vector<RankPart>& parts,
                                                const std::vector<MatchedLane>& lanes,
                                                const RankComparison& comparison,
                                                const Units& units, const Waits& waits);

// What distinguishes one rank from the others, per step of the job; times in ns.
struct RankAgainstOthers {
  bool by_step = true;  // otherwise times cover the whole timeline
  bool on_cpu = false;  // the program's own operators: nothing is launched
  double wait = 0;      // for this rank
  // In meetings at which it arrived last: how much longer it computed before, and later it
  // launched.
  double busy_longer = 0;
  std::optional<double> launched_later;
  double busy = 0;  // between all meetings
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

// Checks tokens, then clocks, then kernels: each can cause the next.
Cause find_cause(const RankAgainstOthers& rank);

}  // namespace llmprof::job
