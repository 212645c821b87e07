#pragma once

#include <optional>
#include <vector>

#include "job/links/links.h"
#include "job/waits/measure_waits.h"

namespace llmprof::job {

using profile::FindingValues;
using profile::make_reason;
using profile::ReasonKind;

// Time of expert kernels in one stage, by part, ms.
struct ExpertTimes {
  std::vector<double> by_part;
  size_t longest = 0;    // part
  double imbalance = 0;  // the longest over the mean; 0: no experts
};
// In all measured stages if `stage` is none.
ExpertTimes expert_times(const std::vector<RankPart>& parts,
                         const std::optional<std::string>& stage);

// Share of the time of pipeline ranks in a stage's units that is idle or spent waiting for another
// pipeline stage. None without a pipeline.
std::optional<double> bubble_share(const std::vector<RankPart>& parts,
                                   const RankComparison& comparison, const std::string& stage);

// Findings from the job's groups, collectives, stragglers and per_rank.
std::vector<profile::Finding> find_job_findings(const std::vector<RankPart>& parts,
                                                const RankComparison& comparison);

// By group: the kind of parallelism of its ranks.
std::vector<profile::RankGroup> find_parallelism(const MeasuredJob& job,
                                                 const ParallelismOptions& options,
                                                 bool has_experts);
// By stage, then longest total first.
std::vector<profile::JobCollective> job_collectives(const MeasuredJob& job, const Links& links);
// Ranks that delay others: in most collectives, or for long in a few. Pipeline groups are excluded,
// since a pipeline stage always waits for the previous one. In stages without matched collectives:
// ranks whose steps take longer. Longest wait first. Needs the comparison's clocks, groups and rank
// stages.
std::vector<profile::Straggler> find_stragglers(const MeasuredJob& job,
                                                const RankComparison& comparison);

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
