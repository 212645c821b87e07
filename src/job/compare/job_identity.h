#pragma once

#include <vector>

#include "job/between.h"

namespace llmprof::job {

// Which ranks the job has, which of them were recorded, and where they ran.
profile::Job identify_job(const std::vector<RankPart>& parts);

}  // namespace llmprof::job
