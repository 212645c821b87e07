#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "compare/model/diff.h"
#include "compare/model/sides.h"

namespace llmprof::compare {

// Where a stage's difference is: by part of the budget, by kernel, and by cause. Without
// `all_kernels_seen`, a side hides kernels that the other shows: they are not matched.
StageDiff diff_stage(const Sides& sides, const std::string& stage, bool all_kernels_seen);

// The kernels of whole captures, where neither side has stages.
StageDiff diff_all_kernels(const Sides& sides);

inline constexpr std::string_view kAllKernels = "all kernels";

// The part of a whole capture's time in which kernels run: it has no budget by class.
inline constexpr std::string_view kKernelsRunning = "kernels running";

// Sums the rows of kernels and budget up to what a reader asks for: kernels by kind of change and
// class, idle time by part, the rest. Causes sum to the wall's difference exactly.
void find_causes(StageDiff& diff);

// Ranks that every run of both sides has, by rank, then stage of the job. Empty unless all runs are
// jobs.
std::vector<RankDiff> diff_ranks(const Sides& sides);

// By kind, stage and subject: gone and new ones first, then those that changed by more than
// `threshold` of the base's potential saving, then the rest. A finding of a side is one that at
// least half of its runs have.
std::vector<FindingChange> find_finding_changes(const Sides& sides, double threshold);

// Each total over `units`, in whole nanoseconds, so that their sum is that of all totals over
// `units`, rounded once: row by row, what was rounded off before is made good.
std::vector<int64_t> apportion(const std::vector<int64_t>& totals, double units);

}  // namespace llmprof::compare
