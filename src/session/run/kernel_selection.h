#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <vector>

#include "analysis/passes/results.h"
#include "capture/ncu/ncu_capture.h"
#include "session/analysis/reading.h"

namespace llmprof::session {

// The kernels for ncu to measure: the `top_n` with the longest total time in a timeline's stages
// (in the whole timeline if it has none), once per stage they run in. Warm-up is excluded unless
// there is nothing else. Empty without a timeline of kernels.
std::vector<capture::ChosenKernel> select_top_kernels(const trace::Trace& trace,
                                                      const analysis::Results& results,
                                                      size_t top_n);

// The same for the inputs read so far. Writes no files.
std::vector<capture::ChosenKernel> select_top_kernels(Reading timeline,
                                                      const std::optional<fs::path>& config_folder,
                                                      size_t top_n);

}  // namespace llmprof::session
