#pragma once

#include "analysis/naming/classes.h"
#include "analysis/stages/meaningful_ranges.h"
#include "analysis/stages/stages.h"
#include "base/diagnostics.h"

namespace llmprof::analysis {

// Stages from the kernel sequence alone. If nothing repeats like a model's layers and steps,
// `stages` is empty and `reason` says why. Time is linear in the number of kernels. `ranges`: if an
// engine's ranges mark its passes but not their kind, these are the passes.
Stages detected_stages(const trace::Trace& trace, const DescribedNames& names,
                       Diagnostics& diagnostics, const MeaningfulRanges* ranges = nullptr);

// Adds detected steps to annotated instances without steps: forward passes with most of their
// kernels in the instance, if these passes make up most of it. Call before measuring the stages.
// Reports how many steps were found.
void add_detected_steps(const trace::Trace& trace, const DescribedNames& names, Stages& stages,
                        Diagnostics& diagnostics);

}  // namespace llmprof::analysis
