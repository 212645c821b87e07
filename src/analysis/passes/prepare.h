#pragma once

#include <optional>

#include "analysis/mfu/utilization.h"
#include "analysis/naming/described_names.h"
#include "analysis/passes/request.h"
#include "analysis/stages/meaningful_ranges.h"
#include "analysis/stages/stages.h"
#include "analysis/untraced/collector_overhead.h"
#include "base/diagnostics.h"
#include "base/error.h"

namespace llmprof::analysis {

// From annotations where there are any, from the kernel sequence otherwise. `ranges` is null where
// annotations are not to be used.
Stages find_stages(const trace::Trace& trace, const MeaningfulRanges* ranges,
                   const DescribedNames& names, Diagnostics& diagnostics);

// Stages that were found before the trace was narrowed to some of them.
struct NarrowedStages {
  Stages stages;
  std::optional<profile::CollectorOverhead> collector_overhead;  // of the whole run
};

// A trace that changes no more, with what all passes look up in it.
struct Prepared {
  Prepared(const trace::Trace& of, const AnalysisRules& with, const AnalysisOptions& asked);

  const trace::Trace& trace;
  const AnalysisRules& rules;
  const AnalysisOptions& options;
  DescribedNames names;
  trace::DeviceKind device;                // what all kernels ran on
  std::optional<NarrowedStages> narrowed;  // where a stage or steps were selected
  Diagnostics diagnostics;                 // the readers', and of the preparation
};

// The ranges that mean something; none where annotations are not to be used.
std::optional<MeaningfulRanges> find_annotations(const Prepared& in);

// The one step that changes a trace: takes out what describes the same work twice and what is
// outside of the selection. A selection that is not there is an error.
Result<Prepared> prepare(trace::Trace& trace, const AnalysisRules& rules,
                         const AnalysisOptions& options);

// Finds the peaks of what the stages ran on, and how much of them was used.
Utilization measure_utilization(const Prepared& prepared, const Stages& stages);

}  // namespace llmprof::analysis
