#pragma once

#include <vector>

#include "job/waits/rank_stages.h"

namespace llmprof::job {

// Ranks that others wait for: in most collectives, or for long in a few. Groups by `in_pipeline`
// are left out, since a stage of a pipeline always waits for the one before it. In stages without
// matched collectives: ranks whose steps take longer. Longest wait first.
std::vector<profile::Straggler> find_stragglers(const std::vector<RankPart>& parts,
                                                const std::vector<MatchedLane>& lanes,
                                                const std::vector<uint8_t>& in_pipeline,
                                                const std::vector<profile::RankClock>& clocks,
                                                const Units& units, const Waits& waits);

}  // namespace llmprof::job
