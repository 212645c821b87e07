#pragma once

#include <vector>

#include "job/waits/measure_waits.h"

namespace llmprof::job {

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

}  // namespace llmprof::job
