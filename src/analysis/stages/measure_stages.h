#pragma once

#include "analysis/stages/stages.h"
#include "base/diagnostics.h"

namespace llmprof::analysis {

// Fills everything that follows from instances (their start and range end, process, device, stage),
// steps (their instance and kind) and owners: orders instances and steps, extends an instance to
// its last GPU work where the range closed earlier (and says so), sets the steps' windows, GPU
// work, statistics, warm-up flags, coverage and token times. Annotated and detected stages share
// it.
void measure_stages(const trace::Trace& trace, Stages& stages, Diagnostics& diagnostics);

// Sets `work` of each instance and step, by `stages.owners`.
void meter_work(const trace::Trace& trace, Stages& stages);

// Sums up again what narrowing has changed: GPU work, statistics, coverage and token times of
// instances and steps whose windows and warm-up flags stand.
void measure_again(const trace::Trace& trace, Stages& stages);

}  // namespace llmprof::analysis
