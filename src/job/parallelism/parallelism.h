#pragma once

#include <vector>

#include "job/links/links.h"
#include "job/waits/measure_waits.h"

namespace llmprof::job {

// By group: the kind of parallelism of its ranks.
std::vector<profile::RankGroup> find_parallelism(const std::vector<RankPart>& parts,
                                                 const Lanes& lanes, const Units& units,
                                                 const Waits& waits,
                                                 const ParallelismOptions& options,
                                                 bool has_experts);

// By stage, then longest total first.
std::vector<profile::JobCollective> job_collectives(const std::vector<RankPart>& parts,
                                                    const Lanes& lanes, const Units& units,
                                                    const Waits& waits, const Links& links);

// Bytes over each rank's link that no algorithm can avoid, per byte of one rank's message (its
// contribution; for a reduce-scatter, all that it reduces). None if unknown.
std::optional<double> wire_factor(trace::CollectiveKind kind, uint64_t ranks);

}  // namespace llmprof::job
