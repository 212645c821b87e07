#pragma once

#include "analysis/naming/described_names.h"
#include "analysis/stages/stages.h"
#include "base/diagnostics.h"

namespace llmprof::analysis {

// Stages from the kernel sequence alone. Nothing is found where nothing repeats as a model's layers
// and steps do: `stages` is then empty and `reason` says why. Time grows linearly with the kernels.
Stages detected_stages(const trace::Trace& trace, const DescribedNames& names,
                       Diagnostics& diagnostics);

}  // namespace llmprof::analysis
