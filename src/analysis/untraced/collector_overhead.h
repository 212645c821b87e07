#pragma once

#include <optional>

#include "analysis/stages/stages.h"
#include "profile/run.h"

namespace llmprof::analysis {

// What tracing cost a decode step, measured by the run itself: windows of traced steps beside
// windows of untraced ones. Nothing else in a profile is corrected by it.
//
// A traced window's time per step is that from its first GPU work's start to its last one's end,
// and an untraced window's that from the traced window before to the one after it. Between two
// steps the GPU waits; n steps have n - 1 such waits inside their window, so the mean wait inside
// traced windows (`gap`) is added to each traced window and taken from each untraced one. After a
// window that replayed CUDA graphs CUPTI goes on for one more step, of which nothing is recorded:
// that step costs what a traced one does, and is taken from the untraced window at a traced step's
// mean.
//
// None where no process has a duty cycle, or several have.
std::optional<profile::CollectorOverhead> collector_overhead(const trace::Trace& trace,
                                                             const Stages& stages);

}  // namespace llmprof::analysis
