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
// `stage` none: in all measured stages.
ExpertTimes expert_times(const std::vector<RankPart>& parts,
                         const std::optional<std::string>& stage);

// Of the time of ranks in pipeline groups in a stage's units: idle, or waiting for another stage of
// the pipeline. None without a pipeline.
std::optional<double> bubble_share(const std::vector<RankPart>& parts,
                                   const RankComparison& comparison, const std::string& stage);

// Of what is between ranks: what the job's groups, collectives, stragglers and per_rank say.
std::vector<profile::Finding> find_job_findings(const std::vector<RankPart>& parts,
                                                const RankComparison& comparison);

}  // namespace llmprof::job
