#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <vector>

#include "analysis/passes/results.h"
#include "capture/ncu/ncu_capture.h"
#include "session/analysis/reading.h"

namespace llmprof::session {

// What ncu is to measure: the `top_n` kernels with the longest total time in the stages of a
// timeline (in all of it where no stages are known), once per stage they run in (warm-up is
// excluded where there is more). Empty without a timeline of kernels.
std::vector<capture::ChosenKernel> select_top_kernels(const trace::Trace& trace,
                                                      const analysis::Results& results,
                                                      size_t top_n);

// The same, of what was read so far. Writes nothing.
std::vector<capture::ChosenKernel> select_top_kernels(Reading timeline,
                                                      const std::optional<fs::path>& config_folder,
                                                      size_t top_n);

}  // namespace llmprof::session
