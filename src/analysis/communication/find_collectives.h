#pragma once

#include "analysis/communication/collectives.h"
#include "analysis/naming/described_names.h"
#include "analysis/stages/stages.h"
#include "trace/trace.h"

namespace llmprof::analysis {

// Kernels of class communication, and those that the capture says to communicate, with what the
// capture says of each. What a name shows (the kind) is the fallback; without a group, those of one
// device and stream are one.
Collectives find_collectives(const trace::Trace& trace, const DescribedNames& names,
                             const Stages& stages);

}  // namespace llmprof::analysis
