#pragma once

#include <string>
#include <vector>

#include "analysis/stages/meaningful_ranges.h"
#include "analysis/stages/stages.h"

namespace llmprof::analysis {

using StageUnitId = trace::Id<struct StageUnitKind>;  // row of StageRanges::units

// What becomes an instance of a stage on each GPU it works on: a stage's range, an engine's step,
// or a run of decode steps without a range around them.
struct StageUnit {
  std::string stage;
  std::string label;  // as recorded
  StageSource source = StageSource::nvtx;
  trace::ProcessId process;
  Nanoseconds start = 0;
  Nanoseconds end = 0;  // kOpenEnd where never closed
  bool warmup = false;  // the program says so by a range around it
};

class StageRanges {
 public:
  StageRanges(const trace::Trace& trace, const MeaningfulRanges& ranges);

  [[nodiscard]] const std::vector<StageUnit>& units() const { return units_; }
  // Units are an engine's steps; other stage ranges are then left aside.
  [[nodiscard]] bool serving() const { return serving_; }
  [[nodiscard]] StageUnitId unit_of(const OpenAt& open) const {
    const OpenRangeId range = open.stage.valid() ? open.stage : open.step;
    return range.valid() ? unit_of_range_[range.index()] : StageUnitId();
  }

 private:
  void add_unit(OpenRangeId range, std::string stage);
  void add_loops();

  const trace::Trace& trace_;
  const MeaningfulRanges& ranges_;
  bool serving_ = false;
  std::vector<StageUnit> units_;
  std::vector<StageUnitId> unit_of_range_;  // of stages, engine steps and steps without a stage
};

// What a program said of the steps it was in (StepTable), by the step's range. A stage that has no
// step ranges inside but was told to be a step is one itself: a prefill is one forward pass.
class NotedSteps {
 public:
  struct Note {
    StepKind kind = StepKind::decode;
    uint64_t batch = 0;
    uint64_t tokens = 0;  // a prefill told in pieces is their sum
    uint32_t times = 0;   // 0: nothing was told
  };

  NotedSteps(const trace::Trace& trace, const MeaningfulRanges& ranges);

  // The range that is the step of what is open; none where nothing is.
  [[nodiscard]] OpenRangeId step_of(const OpenAt& open) const {
    if (open.step.valid() || notes_.empty() || !open.stage.valid()) return open.step;
    return is_step_itself(open.stage) ? open.stage : OpenRangeId();
  }
  // Null where nothing was told.
  [[nodiscard]] const Note* of(OpenRangeId range) const {
    return notes_.empty() || notes_[range.index()].times == 0 ? nullptr : &notes_[range.index()];
  }

 private:
  [[nodiscard]] bool is_step_itself(OpenRangeId stage) const;

  std::vector<Note> notes_;            // by range; empty where no step was told
  std::vector<bool> has_step_ranges_;  // likewise
};

}  // namespace llmprof::analysis
