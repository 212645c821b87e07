#pragma once

#include <vector>

#include "compare/model/diff.h"
#include "compare/model/sides.h"

namespace llmprof::compare {

// Ranks that every run of both sides has, by rank, then stage of the job. Empty unless all runs are
// jobs.
std::vector<RankDiff> diff_ranks(const Sides& sides);

}  // namespace llmprof::compare
