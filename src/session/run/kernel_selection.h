#pragma once

#include <cstddef>
#include <vector>

#include "analysis/passes/results.h"
#include "capture/ncu/ncu_capture.h"

namespace llmprof::session {

// What ncu is to look at: the `top_n` kernels with the longest total time in the stages of a
// timeline (in all of it where no stages are known), once for each stage they run in (warm-up is
// left out where there is more). Empty without a timeline of GPU kernels.
std::vector<capture::ChosenKernel> select_top_kernels(const trace::Trace& trace,
                                                      const analysis::Results& results,
                                                      size_t top_n);

}  // namespace llmprof::session
