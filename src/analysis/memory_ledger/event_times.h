#pragma once

#include <vector>

#include "analysis/stages/stages.h"
#include "base/units.h"
#include "trace/trace.h"

namespace llmprof::analysis {

// The times at which a ledger without readings looks at a GPU's recorded allocations, in order: its
// first and last event, the highest of each of some stretches, the start of the first stage, the
// highest of each stage, and the middle of the longest decode. Empty without allocations on the
// GPU.
std::vector<Nanoseconds> event_times(const trace::Trace& trace, const Stages& stages,
                                     GpuOfProcess gpu, Nanoseconds until, size_t stretches);

// The longest instance of decode on the GPU that is no warm-up; null without one.
const StageInstance* longest_decode(const Stages& stages, trace::DeviceId device);

}  // namespace llmprof::analysis
