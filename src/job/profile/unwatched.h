#pragma once

#include <optional>
#include <vector>

#include "profile/stages.h"

namespace llmprof::job::result {

// The job's stage without profiling, where the workload timed it by its own clock: what one rank
// timed is the job's, since its ranks run the stage together. `own` are the ranks' stages, null
// where a rank has none; `stage` has its statistics and its budget.
std::optional<profile::Unwatched> unwatched_of_job(const std::vector<const profile::Stage*>& own,
                                                   const profile::Stage& stage);

}  // namespace llmprof::job::result
