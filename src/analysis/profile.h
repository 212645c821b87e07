#pragma once

#include <optional>

#include "analysis/budget/budget.h"
#include "analysis/collection/collector_overhead.h"
#include "analysis/counters/stage_counters.h"
#include "analysis/device_words.h"
#include "analysis/findings/findings.h"
#include "analysis/layers/kernel_shapes.h"
#include "analysis/layers/layers.h"
#include "analysis/mfu/utilization.h"
#include "analysis/operators/operators.h"
#include "analysis/overhead.h"
#include "analysis/ranking/hidden_graphs.h"
#include "analysis/ranking/kernels.h"
#include "analysis/ranking/metric_join.h"
#include "analysis/ranking/totals.h"
#include "analysis/recoverable/kernel_recoverable.h"
#include "analysis/recoverable/recoverable.h"
#include "analysis/roofline/roofline.h"
#include "analysis/stages/selection.h"
#include "analysis/stages/stage_rules.h"
#include "analysis/stages/stages.h"
#include "base/diagnostics.h"
#include "trace/trace.h"

namespace llmprof::analysis {

// All that is known about one trace, ready to be told. The trace must outlive it.
struct Profile {
  const trace::Trace* trace = nullptr;
  Selection selection;                                // what all of this is about
  trace::DeviceKind device = trace::DeviceKind::gpu;  // what all kernels ran on
  KernelRanking ranking;
  Totals totals;
  std::optional<MetricJoin> join;  // where a kernel profiler's launches were read
  std::optional<HiddenGraphs> hidden_graphs;
  std::vector<OpenedKernel> opened;  // one a row of the ranking
  Stages stages;
  Budgets budgets;
  Layers layers;
  Operators operators;
  Utilization utilization;
  Roofline roofline;
  std::vector<StageRecoverable> recoverable;
  std::vector<KernelRecoverable> kernel_recoverable;
  std::vector<Finding> findings;
  Counters counters;                  // the GPU's own, by stage
  std::vector<OverheadRow> overhead;  // of a run's passes
  std::optional<CollectorOverhead> collector_overhead;
  std::vector<CaptureFailure> captures_failed;  // of a run
  Diagnostics diagnostics;                      // the readers' and the analyses'
};

// What the passes know beside the trace.
struct AnalysisRules {
  KernelRules kernels;
  StageRules stages;
  llm::GpuSpecs gpus;
};

// What the user asked for.
struct AnalysisOptions {
  Selection selection;
  bool use_annotations = true;
  std::optional<llm::ModelSpec> model;
  std::optional<std::string> gpu;  // its name; the capture's own otherwise
  Workload workload;
  // Another run of the same program, profiled for its operators: these are told, its kernels are
  // not.
  const trace::Trace* operators_of = nullptr;
};

// Runs all passes. GPU work outside of the selection is taken out of the trace first; a selection
// that is not there is an error.
Result<Profile> analyse(trace::Trace& trace, const AnalysisRules& rules,
                        const AnalysisOptions& options);

}  // namespace llmprof::analysis
