#pragma once

#include "analysis/naming/described_names.h"
#include "analysis/stages/meaningful_ranges.h"
#include "analysis/stages/stages.h"
#include "base/diagnostics.h"

namespace llmprof::analysis {

// From annotations where there are any, from the kernel sequence otherwise. `ranges` is null where
// annotations are not to be used.
Stages find_stages(const trace::Trace& trace, const MeaningfulRanges* ranges,
                   const DescribedNames& names, Diagnostics& diagnostics);

}  // namespace llmprof::analysis
