#pragma once

#include <string>
#include <string_view>

#include "analysis/ranking/kernels.h"
#include "profile/totals.h"
#include "trace/trace.h"

namespace llmprof::analysis {

// ncu calls different metrics the same ("Memory Throughput", in % of the peak and in byte/s): where
// that happens in a trace, each stands under its name and unit in KernelRow::metrics.
std::string metric_name_with_unit(std::string_view name, std::string_view unit);

// Puts each profiled launch's metrics into the row of the same kernel: same name (however spelled),
// grid and block, and the same innermost range where both sides know it. Without a timeline the
// rows are the profiler's own.
profile::MetricJoin join_metrics(const trace::Trace& trace, KernelRanking& ranking);

}  // namespace llmprof::analysis
