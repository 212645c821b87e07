#pragma once

#include "analysis/naming/described_names.h"
#include "analysis/stages/meaningful_ranges.h"
#include "analysis/stages/stages.h"
#include "base/diagnostics.h"

namespace llmprof::analysis {

// Stages from the kernel sequence alone. Nothing is found where nothing repeats as a model's layers
// and steps do: `stages` is then empty and `reason` says why. Time grows linearly with the kernels.
// `ranges`: where an engine's ranges tell its passes, but not their kind, these are the passes.
Stages detected_stages(const trace::Trace& trace, const DescribedNames& names,
                       Diagnostics& diagnostics, const MeaningfulRanges* ranges = nullptr);

// Gives the annotated instances that have no steps those that the kernel sequence shows: forward
// passes of which most kernels belong to the instance, where these passes make up most of it. The
// stages are not measured yet. Says how many were found.
void add_detected_steps(const trace::Trace& trace, const DescribedNames& names, Stages& stages,
                        Diagnostics& diagnostics);

}  // namespace llmprof::analysis
