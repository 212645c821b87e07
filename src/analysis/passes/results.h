#pragma once

#include <optional>
#include <vector>

#include "analysis/budget/budget.h"
#include "analysis/collection/collector_overhead.h"
#include "analysis/communication/collectives.h"
#include "analysis/counters/stage_counters.h"
#include "analysis/engine/engine.h"
#include "analysis/findings/findings.h"
#include "analysis/layers/layers.h"
#include "analysis/mfu/utilization.h"
#include "analysis/operators/operators.h"
#include "analysis/ranking/hidden_graphs.h"
#include "analysis/ranking/kernel_shapes.h"
#include "analysis/ranking/kernels.h"
#include "analysis/ranking/metric_join.h"
#include "analysis/ranking/totals.h"
#include "analysis/recoverable/kernel_recoverable.h"
#include "analysis/recoverable/recoverable.h"
#include "analysis/roofline/roofline.h"
#include "analysis/sequence/kernel_sequences.h"
#include "analysis/serving/served_windows.h"
#include "analysis/stages/kernel_scopes.h"
#include "analysis/stages/meaningful_ranges.h"
#include "analysis/stages/stages.h"
#include "analysis/timeline/copies.h"
#include "analysis/timeline/device_time.h"
#include "analysis/timeline/launches.h"
#include "analysis/unwatched/unwatched.h"

namespace llmprof::analysis {

// The kernels, and how the launches of a kernel profiler fit them, where some were read.
struct RankedKernels {
  KernelRanking ranking;
  std::optional<MetricJoin> join;
};

// What the passes found about a prepared trace, in the passes' own terms: rows refer to the trace
// and to each other. One member per pass; result/ makes the profile of them.
struct Results {
  std::optional<MeaningfulRanges> annotations;  // while passes need them
  Stages stages;
  std::optional<CollectorOverhead> collector_overhead;
  RankedKernels kernels;
  EngineFound engine;
  Totals totals;
  std::optional<ScopeTotals> scopes;  // none without stages
  std::optional<HiddenGraphs> hidden_graphs;
  std::vector<OpenedKernel> opened;         // one per row of the ranking
  std::optional<BudgetBasis> budget_basis;  // while passes need it
  std::vector<DeviceTime> device_time;
  IdleBefore idle_before;
  std::vector<CopiesOfKind> copies;
  std::vector<LaunchesOfDevice> launches;
  Budgets budgets;
  Unwatched unwatched;
  std::vector<ServedWindow> served;
  Layers layers;
  KernelSequences sequences;
  Operators operators;
  Utilization utilization;
  Counters counters;  // the GPU's own, by stage
  Roofline roofline;
  std::vector<StageRecoverable> recoverable;
  std::vector<KernelRecoverable> kernel_recoverable;
  std::vector<Finding> findings;
  Collectives collectives;

  // Compiled once, in results.cpp: every unit that copies or destroys one would compile it again.
  Results();
  Results(const Results& other);
  Results(Results&& other) noexcept;
  Results& operator=(const Results& other);
  Results& operator=(Results&& other) noexcept;
  ~Results();
};

}  // namespace llmprof::analysis
