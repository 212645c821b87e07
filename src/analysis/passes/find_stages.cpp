#include "analysis/passes/find_stages.h"

#include "analysis/detection/detected_stages.h"
#include "analysis/stages/annotated_stages.h"

namespace llmprof::analysis {

Stages find_stages(const trace::Trace& trace, const MeaningfulRanges* ranges,
                   const DescribedNames& names, Diagnostics& diagnostics) {
  if (ranges != nullptr) {
    const auto add_steps = [&](Stages& stages) {
      add_detected_steps(trace, names, stages, diagnostics);
    };
    if (auto annotated = annotated_stages(trace, *ranges, diagnostics, add_steps)) {
      return *annotated;
    }
  }
  if (trace.kernels.size() == 0) {
    Stages none;
    none.reason = "stages need a timeline; record one with `llmprof run -- PROGRAM`";
    return none;
  }
  Stages detected = detected_stages(trace, names, diagnostics, ranges);
  if (detected.stages.empty()) {
    diagnostics.info("stages_not_found", "no prefill or decode was found: " + detected.reason);
  }
  return detected;
}

}  // namespace llmprof::analysis
