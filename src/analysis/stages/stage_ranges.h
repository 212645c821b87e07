#pragma once

#include <string>
#include <vector>

#include "analysis/stages/meaningful_ranges.h"
#include "analysis/stages/stages.h"

namespace llmprof::analysis {

using StageUnitId = trace::Id<struct StageUnitKind>;  // row of StageRanges::units

// Becomes an instance of a stage on each GPU it works on: a stage's range, an engine's step, or a
// run of decode steps without a range around them.
struct StageUnit {
  std::string stage;
  std::string label;  // as recorded
  StageSource source = StageSource::nvtx;
  trace::ProcessId process;
  Nanoseconds start = 0;
  Nanoseconds end = 0;  // kOpenEnd if never closed
  bool warmup = false;  // the program marks it as warm-up by a range around it
};

class StageRanges {
 public:
  StageRanges(const trace::Trace& trace, const MeaningfulRanges& ranges);

  [[nodiscard]] const std::vector<StageUnit>& units() const { return units_; }
  // Units are an engine's steps; other stage ranges are then ignored.
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
  std::vector<StageUnitId> unit_of_range_;  // for stages, engine steps and steps without a stage
};

// A program's notes on its steps (StepTable), by the step's range. A stage with such a note but
// without step ranges inside is itself a step: a prefill is one forward pass.
class NotedSteps {
 public:
  struct Note {
    StepKind kind = StepKind::decode;
    uint64_t batch = 0;
    uint64_t tokens = 0;  // a prefill in pieces has their sum
    uint32_t times = 0;   // 0: there is no note
  };

  NotedSteps(const trace::Trace& trace, const MeaningfulRanges& ranges);

  // The range of the open step; none if no step is open.
  [[nodiscard]] OpenRangeId step_of(const OpenAt& open) const {
    if (open.step.valid() || notes_.empty() || !open.stage.valid()) return open.step;
    return is_step_itself(open.stage) ? open.stage : OpenRangeId();
  }
  // Null if there is no note.
  [[nodiscard]] const Note* of(OpenRangeId range) const {
    return notes_.empty() || notes_[range.index()].times == 0 ? nullptr : &notes_[range.index()];
  }

 private:
  [[nodiscard]] bool is_step_itself(OpenRangeId stage) const;

  std::vector<Note> notes_;            // by range; empty if there are no notes
  std::vector<bool> has_step_ranges_;  // by range; empty if there are no notes
};

}  // namespace llmprof::analysis
