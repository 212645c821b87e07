#pragma once

#include <optional>

#include "analysis/mfu/utilization.h"
#include "analysis/naming/classes.h"
#include "analysis/passes/request.h"
#include "analysis/stages/meaningful_ranges.h"
#include "analysis/stages/stages.h"
#include "analysis/untraced/collector_overhead.h"
#include "base/diagnostics.h"
#include "base/error.h"

namespace llmprof::analysis {

// Stages found before the trace was narrowed to a selection.
struct NarrowedStages {
  Stages stages;
  std::optional<profile::CollectorOverhead> collector_overhead;  // for the entire run
};

// A final trace with the lookups that all passes share.
struct Prepared {
  Prepared(const trace::Trace& of, const AnalysisRules& with, const AnalysisOptions& asked);

  const trace::Trace& trace;
  const AnalysisRules& rules;
  const AnalysisOptions& options;
  DescribedNames names;
  trace::DeviceKind device;                // what all kernels ran on
  std::optional<NarrowedStages> narrowed;  // if a stage or steps were selected
  Diagnostics diagnostics;                 // from the readers and the preparation
};

// Uses annotations if there are any, otherwise the kernel sequence. `ranges` is null if annotations
// are disabled.
Stages find_stages(const Prepared& in, const MeaningfulRanges* ranges, Diagnostics& diagnostics);

// Ranges with a known meaning; none if annotations are disabled.
std::optional<MeaningfulRanges> find_annotations(const Prepared& in);

// The only step that changes a trace: removes duplicate descriptions of the same work, and
// everything outside the selection. Fails if the selection does not exist.
Result<Prepared> prepare(trace::Trace& trace, const AnalysisRules& rules,
                         const AnalysisOptions& options);

// Finds the peaks of the stages' device, and how much of them was used.
UseOfPeaks measure_utilization(const Prepared& prepared, const Stages& stages);

}  // namespace llmprof::analysis
