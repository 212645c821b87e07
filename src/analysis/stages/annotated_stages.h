#pragma once

#include <functional>
#include <optional>

#include "analysis/stages/meaningful_ranges.h"
#include "analysis/stages/stages.h"
#include "base/diagnostics.h"

namespace llmprof::analysis {

// Adds steps to stages before they are measured.
using AddSteps = std::function<void(Stages&)>;

// Measured stages from a trace's ranges; none if no range means a stage. If set, `add_steps` is
// called for stages with an instance that has GPU work but no steps.
std::optional<Stages> annotated_stages(const trace::Trace& trace, const MeaningfulRanges& ranges,
                                       Diagnostics& diagnostics, const AddSteps& add_steps = {});

}  // namespace llmprof::analysis
