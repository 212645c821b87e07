#pragma once

#include "analysis/ranking/kernels.h"
#include "base/diagnostics.h"

namespace llmprof::analysis {

// Several descriptions of the same work must not be added up; what was left aside is said.
void report_sources(const trace::Trace& trace, const KernelRanking& ranking,
                    Diagnostics& diagnostics);

}  // namespace llmprof::analysis
