#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "job/rank_comparison.h"

namespace llmprof::job {

// Rows of steps in which two parts ran the same collectives.
struct SameSteps {
  uint32_t first = 0;   // rank part
  uint32_t second = 0;  // rank part
  std::vector<std::pair<uint32_t, uint32_t>> steps;
};

struct JobSteps {
  std::vector<JobInstance> instances;  // by start
  std::vector<JobStep> steps;          // by start
  uint64_t matched = 0;
  uint64_t unmatched = 0;  // steps of one rank without a match on the others
};

// Steps that all parts have, matched by their collectives. Without collectives, they are matched by
// order; if captures have different numbers of steps, by time.
JobSteps make_job_steps(const std::vector<RankPart>& parts,
                        const std::vector<profile::RankClock>& clocks,
                        const std::vector<SameSteps>& same);

// Names of the parts' stages, by first occurrence in the reference part, then in others.
std::vector<std::string> job_stage_names(const std::vector<RankPart>& parts);

}  // namespace llmprof::job
