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

}  // namespace llmprof::analysis
