#pragma once

#include "analysis/naming/described_names.h"
#include "analysis/stages/stages.h"
#include "base/diagnostics.h"

namespace llmprof::analysis {

// Gives the annotated instances that have no steps those that the kernel sequence shows: forward
// passes of which most kernels belong to the instance, where these passes make up most of it. The
// stages are not measured yet. Says how many were found.
void add_detected_steps(const trace::Trace& trace, const DescribedNames& names, Stages& stages,
                        Diagnostics& diagnostics);

}  // namespace llmprof::analysis
