#pragma once

#include <optional>

#include "analysis/stages/meaningful_ranges.h"
#include "analysis/stages/stages.h"
#include "base/diagnostics.h"

namespace llmprof::analysis {

// Stages from the ranges of a trace, measured; none where no range means a stage.
std::optional<Stages> annotated_stages(const trace::Trace& trace, const MeaningfulRanges& ranges,
                                       Diagnostics& diagnostics);

}  // namespace llmprof::analysis
