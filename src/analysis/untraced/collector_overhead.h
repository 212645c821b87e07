#pragma once

#include <optional>

#include "analysis/stages/stages.h"
#include "profile/run.h"

namespace llmprof::analysis {

// Tracing cost per decode step, measured within the run: windows of traced steps compared with
// windows of untraced ones. It corrects nothing else in a profile.
//
// A traced window's time per step runs from its first GPU work's start to its last one's end; an
// untraced window's runs from the previous traced window to the next. The GPU waits between two
// steps; n steps have n - 1 such waits inside their window, so the mean wait inside traced windows
// (`gap`) is added to each traced window and subtracted from each untraced one. After a window that
// replayed CUDA graphs, CUPTI stays on for one more step without recording it: that step costs as
// much as a traced one, so a traced step's mean is subtracted from the untraced window.
//
// None unless exactly one process has a duty cycle.
std::optional<profile::CollectorOverhead> collector_overhead(const trace::Trace& trace,
                                                             const Stages& stages);

}  // namespace llmprof::analysis
