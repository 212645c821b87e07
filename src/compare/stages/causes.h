#pragma once

#include <string_view>

#include "compare/model/diff.h"

namespace llmprof::compare {

// The part of a whole capture's time in which kernels run: it has no budget by class.
inline constexpr std::string_view kKernelsRunning = "kernels running";

// Sums the rows of kernels and budget up to what a reader asks for: kernels by kind of change and
// class, idle time by part, the rest. Causes sum to the wall's difference exactly.
void find_causes(StageDiff& diff);

}  // namespace llmprof::compare
