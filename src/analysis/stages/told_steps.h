#pragma once

#include <vector>

#include "analysis/stages/meaningful_ranges.h"
#include "analysis/stages/stages.h"

namespace llmprof::analysis {

// What a program said of the steps it was in (StepTable), by the step's range. A stage that has no
// step ranges inside but was told to be a step is one itself: a prefill is one forward pass.
class ToldSteps {
 public:
  struct Told {
    StepKind kind = StepKind::decode;
    uint64_t batch = 0;
    uint64_t tokens = 0;  // a prefill told in pieces is their sum
    uint32_t times = 0;   // 0: nothing was told
  };

  ToldSteps(const trace::Trace& trace, const MeaningfulRanges& ranges);

  // The range that is the step of what is open; none where nothing is.
  [[nodiscard]] OpenRangeId step_of(const OpenAt& open) const {
    if (open.step.valid() || told_.empty() || !open.stage.valid()) return open.step;
    return is_step_itself(open.stage) ? open.stage : OpenRangeId();
  }
  // Null where nothing was told.
  [[nodiscard]] const Told* of(OpenRangeId range) const {
    return told_.empty() || told_[range.index()].times == 0 ? nullptr : &told_[range.index()];
  }

 private:
  [[nodiscard]] bool is_step_itself(OpenRangeId stage) const;

  std::vector<Told> told_;             // by range; empty where no step was told
  std::vector<bool> has_step_ranges_;  // likewise
};

}  // namespace llmprof::analysis
