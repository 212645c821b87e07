#include "analysis/stages/told_steps.h"

namespace llmprof::analysis {
namespace {

StepKind kind_of(trace::StepTable::Kind kind) {
  switch (kind) {
    case trace::StepTable::Kind::prefill:
      return StepKind::prefill;
    case trace::StepTable::Kind::decode:
      return StepKind::decode;
    case trace::StepTable::Kind::mixed:
      break;
  }
  return StepKind::mixed;
}

}  // namespace

ToldSteps::ToldSteps(const trace::Trace& trace, const MeaningfulRanges& ranges) {
  const trace::StepTable& steps = trace.steps;
  if (steps.size() == 0) return;
  told_.resize(ranges.ranges().size());
  has_step_ranges_.resize(ranges.ranges().size(), false);
  for (const MeaningfulRange& range : ranges.ranges()) {
    if (range.open.step.valid() && range.open.stage.valid()) {
      has_step_ranges_[range.open.stage.index()] = true;
    }
  }
  MeaningfulRanges::Cursor cursor(ranges);
  for (size_t i = 0; i < steps.size(); ++i) {
    const OpenAt open = cursor.at(steps.thread[i], steps.time[i]);
    const OpenRangeId range = open.step.valid() ? open.step : open.stage;
    if (!range.valid()) continue;
    Told& told = told_[range.index()];
    if (told.times++ == 0) told.kind = kind_of(steps.kind[i]);
    told.batch = steps.batch[i];
    told.tokens += steps.tokens[i];
  }
}

bool ToldSteps::is_step_itself(OpenRangeId stage) const {
  const Told& told = told_[stage.index()];
  if (has_step_ranges_[stage.index()]) return false;
  return told.times == 1 || (told.times > 1 && told.kind == StepKind::prefill);
}

}  // namespace llmprof::analysis
