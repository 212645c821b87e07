#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "job/rank_part.h"
#include "profile/findings.h"
#include "profile/job.h"

namespace llmprof::job {

class Links;  // job/links/links.h

// What the user says of the job: --tp, --pp, --ep. None: to be found.
struct ParallelismOptions {
  std::optional<uint64_t> tp;
  std::optional<uint64_t> pp;
  std::optional<uint64_t> ep;
};

// One instance of a stage on all ranks: from the first rank's start to the slowest rank's end.
struct JobInstance {
  std::string stage;
  uint64_t instance = 0;  // among the job's, from 0
  Nanoseconds start = 0;  // on the job's clock
  Nanoseconds end = 0;
  bool warmup = false;        // of any rank
  std::vector<uint32_t> row;  // by rank part: of the rank's Stage::instances; kNoRow: likewise
};

// One forward pass on all ranks, as its instance: it ends where the slowest rank's does, and begins
// where the job's step before it ended (the first of an instance where the first rank began). Rows
// are of profile.steps; kNoRow: the rank has not this stage.
struct JobStep : JobInstance {
  uint64_t step_of_instance = 0;  // from 0
  profile::StepKind kind = profile::StepKind::mixed;
  bool after_untraced = false;  // as of profile::Step; in no statistics
};

// Of one rank; null without one.
inline const profile::RankStage* stage_of(const std::vector<profile::RankStage>& stages,
                                          const std::string& name) {
  const auto found = std::ranges::find(stages, name, &profile::RankStage::stage);
  return found == stages.end() ? nullptr : &*found;
}

// What is between the ranks of a job.
struct RankComparison {
  profile::Job job;
  std::vector<profile::RankClock> clocks;                 // by rank part
  std::vector<std::vector<profile::RankStage>> per_rank;  // by rank part
  std::vector<JobInstance> instances;                     // those that all ranks have, by start
  std::vector<JobStep> steps;                             // likewise
  std::vector<profile::Finding> findings;                 // largest potential saving first
};

// Parts are of different ranks, in any order; what a part does not have is left out, and said.
// The ranks' own figures are not changed. Defined in job/compare.
RankComparison compare_ranks(const std::vector<RankPart>& parts, const Links& links,
                             const ParallelismOptions& options);

// Of a time on the clock of the rank's capture. Defined in job/clock.
Nanoseconds job_time(const profile::RankClock& clock, Nanoseconds rank_time);

}  // namespace llmprof::job
