#pragma once

#include <cstdint>

#include "analysis/ranking/kernels.h"
#include "trace/trace.h"

namespace llmprof {

// How the launches of a kernel profiler fit the kernels of a timeline.
struct MetricJoin {
  uint64_t profiled = 0;          // launches that the profiler measured
  uint64_t joined = 0;            // of those, launches whose kernel is in the timeline
  uint64_t timeline_covered = 0;  // timeline kernels that have metrics through them
};

// Puts each profiled launch's metrics into the row of the same kernel: same name (however spelled),
// grid and block, and the same innermost range where both sides know one. Without a timeline the
// rows are the profiler's own.
MetricJoin join_metrics(const Trace& trace, KernelRanking& ranking);

}  // namespace llmprof
