#pragma once

#include <functional>
#include <optional>

#include "analysis/stages/meaningful_ranges.h"
#include "analysis/stages/stages.h"
#include "base/diagnostics.h"

namespace llmprof::analysis {

// Adds steps to stages that are not measured yet.
using AddSteps = std::function<void(Stages&)>;

// Stages from the ranges of a trace, measured; none where no range means a stage. `add_steps`, if
// there is one, is called for stages of which an instance with GPU work has none.
std::optional<Stages> annotated_stages(const trace::Trace& trace, const MeaningfulRanges& ranges,
                                       Diagnostics& diagnostics, const AddSteps& add_steps = {});

}  // namespace llmprof::analysis
