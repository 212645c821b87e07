#pragma once

#include <optional>

#include "analysis/hidden_graphs.h"
#include "analysis/kernels.h"
#include "analysis/metric_join.h"
#include "analysis/totals.h"
#include "base/diagnostics.h"
#include "trace/trace.h"

namespace llmprof {

// All that is known about one trace, ready to be told. The trace must outlive it.
struct Profile {
  const Trace* trace = nullptr;
  KernelRanking ranking;
  Totals totals;
  std::optional<MetricJoin> join;  // where a kernel profiler's launches were read
  std::optional<HiddenGraphs> hidden_graphs;
  Diagnostics diagnostics;  // the readers' and the analyses'
};

Profile analyse(const Trace& trace, const KernelRules& rules);

}  // namespace llmprof
