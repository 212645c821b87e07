#pragma once

#include <string>
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

}  // namespace llmprof::compare
