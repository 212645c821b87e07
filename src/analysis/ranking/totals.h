#pragma once

#include <optional>

#include "analysis/ranking/kernels.h"
#include "analysis/stages/kernel_scopes.h"
#include "base/diagnostics.h"
#include "profile/totals.h"
#include "trace/trace.h"

namespace llmprof::analysis {

// Kernel time, in total and by GPU. Sums count overlapping kernels twice, busy times once; a span
// runs from the first start to the last end. Busy times and spans need a timeline. Reports if CUDA
// graphs hide kernels, because the ranking is then incomplete.
profile::Totals total_up(const trace::Trace& trace, const KernelRanking& ranking,
                         const std::optional<profile::MetricJoin>& join,
                         const std::optional<ScopeTotals>& scopes, Diagnostics& diagnostics);

}  // namespace llmprof::analysis
