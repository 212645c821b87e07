#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "job/rank_part.h"
#include "profile/findings.h"
#include "profile/job.h"

namespace llmprof::job {

// The user's options --tp, --pp, --ep. None: to be detected.
struct ParallelismOptions {
  std::optional<uint64_t> tp;
  std::optional<uint64_t> pp;
  std::optional<uint64_t> ep;
};

// One instance of a stage on all ranks: from the first rank's start to the slowest rank's end.
struct JobInstance {
  std::string stage;
  uint64_t instance = 0;  // in the job, from 0
  Nanoseconds start = 0;  // on the job's clock
  Nanoseconds end = 0;
  bool warmup = false;        // on any rank
  std::vector<uint32_t> row;  // by rank part: row in the rank's Stage::instances, or kNoRow
};

// One forward pass on all ranks. It ends when the slowest rank's does, and starts when the job's
// previous step ended (the first one of an instance: when the first rank started). Rows are in
// profile.steps; kNoRow: the rank does not have this stage.
struct JobStep : JobInstance {
  uint64_t step_of_instance = 0;  // from 0
  profile::StepKind kind = profile::StepKind::mixed;
  bool after_untraced = false;  // as in profile::Step; excluded from statistics
};

// A rank's stage of that name; null if there is none.
inline const profile::RankStage* stage_of(const std::vector<profile::RankStage>& stages,
                                          const std::string& name) {
  const auto found = std::ranges::find(stages, name, &profile::RankStage::stage);
  return found == stages.end() ? nullptr : &*found;
}

// Waits, collectives, stragglers and common steps of a job's ranks.
struct RankComparison {
  profile::Job job;
  std::vector<profile::RankClock> clocks;                 // by rank part
  std::vector<std::vector<profile::RankStage>> per_rank;  // by rank part
  std::vector<JobInstance> instances;                     // those that all ranks have, by start
  std::vector<JobStep> steps;                             // those that all ranks have, by start
  std::vector<profile::Finding> findings;                 // largest potential saving first
};

// Parts have different ranks, in any order; data missing in a part is skipped and reported. Does
// not change the ranks' own figures. Defined in job/all_ranks.
RankComparison compare_ranks(const std::vector<RankPart>& parts, const Links& links,
                             const ParallelismOptions& options);

// Converts a time on the clock of the rank's capture. Defined in job/clock.
Nanoseconds job_time(const profile::RankClock& clock, Nanoseconds rank_time);

}  // namespace llmprof::job
