#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "compare/model/diff.h"
#include "compare/model/sides.h"

namespace llmprof::compare {

// Splits a stage's difference by budget part, kernel and cause. Without `all_kernels_seen`, one
// side hides kernels that the other shows: kernels are not matched.
StageDiff diff_stage(const Sides& sides, const std::string& stage, bool all_kernels_seen);

// The kernels of whole captures, if neither side has stages.
StageDiff diff_all_kernels(const Sides& sides);

inline constexpr std::string_view kAllKernels = "all kernels";

// The part of a whole capture's time with running kernels: it has no budget by class.
inline constexpr std::string_view kKernelsRunning = "kernels running";

// Sums the rows of kernels and budget into causes: kernels by kind of change and class, idle time
// by part, the rest. Causes sum exactly to the wall time's difference.
void find_causes(StageDiff& diff);

// Ranks that every run of both sides has, by rank, then by stage of the job. Empty unless all runs
// are jobs.
std::vector<RankDiff> diff_ranks(const Sides& sides);

// By kind, stage and subject: gone and new findings first, then those that changed by more than
// `threshold` of the base's potential saving, then the rest. A side has a finding if at least half
// of its runs do.
std::vector<FindingChange> find_finding_changes(const Sides& sides, double threshold);

// Each total divided by `units`, in whole nanoseconds. Rounding errors carry over from row to row,
// so the results sum to the sum of all totals divided by `units`, rounded once.
std::vector<int64_t> apportion(const std::vector<int64_t>& totals, double units);

}  // namespace llmprof::compare
