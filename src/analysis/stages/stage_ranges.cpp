#include "analysis/stages/stage_ranges.h"

#include <algorithm>
#include <tuple>

namespace llmprof::analysis {
namespace {

using Kind = RangeMeaning::Kind;

std::string label_of(const trace::Trace& trace, uint32_t row) {
  const trace::StringId domain = trace.ranges.domain[row];
  const std::string text(trace.strings[trace.ranges.text[row]]);
  return domain.valid() ? std::string(trace.strings[domain]) + '@' + text : text;
}

StepKind noted_kind(trace::StepTable::Kind kind) {
  using Noted = trace::StepTable::Kind;
  if (kind == Noted::mixed) return StepKind::mixed;
  return kind == Noted::prefill ? StepKind::prefill : StepKind::decode;
}

}  // namespace

StageRanges::StageRanges(const trace::Trace& trace, const MeaningfulRanges& ranges)
    : trace_(trace),
      ranges_(ranges),
      serving_(ranges.any(Kind::engine_step)),
      unit_of_range_(ranges.ranges().size()) {
  const Kind wanted = serving_ ? Kind::engine_step : Kind::stage;
  for (size_t i = 0; i < ranges.ranges().size(); ++i) {
    const OpenRangeId id(i);
    const RangeMeaning& meaning = ranges.meaning(id);
    if (meaning.kind == wanted && ranges[id].open.stage == id) add_unit(id, meaning.name);
  }
  if (!serving_) add_loops();
}

void StageRanges::add_unit(OpenRangeId range, std::string stage) {
  const uint32_t row = ranges_[range].row;
  const trace::ProcessId process = trace_.threads[trace_.ranges.thread[row].index()].process;
  const trace::Capture& capture =
      trace_.captures[trace_.processes[process.index()].capture.index()];
  const bool annotation = ranges_.meaning(range).kind == Kind::engine_step ||
                          trace_.ranges.kind[row] == trace::RangeKind::annotation ||
                          capture.tool == trace::kCollectorTool;
  StageUnit unit;
  unit.stage = std::move(stage);
  unit.label = label_of(trace_, row);
  unit.source = annotation ? StageSource::annotation : StageSource::nvtx;
  unit.process = process;
  unit.start = trace_.ranges.start[row];
  unit.end = trace_.ranges.end[row];
  for (OpenRangeId around = range; around.valid(); around = ranges_[around].parent) {
    unit.warmup = unit.warmup || ranges_.meaning(around).kind == Kind::warm_up;
  }
  unit_of_range_[range.index()] = StageUnitId(units_.size());
  units_.push_back(std::move(unit));
}

// Consecutive decode steps of one thread without a stage between them.
void StageRanges::add_loops() {
  struct StageOrStep {
    trace::ThreadId thread;
    Nanoseconds start;
    OpenRangeId range;
    bool step;
  };
  std::vector<StageOrStep> candidates;
  for (size_t i = 0; i < ranges_.ranges().size(); ++i) {
    const OpenRangeId id(i);
    const MeaningfulRange& range = ranges_[id];
    const bool stage = range.open.stage == id;
    const bool step = !range.open.stage.valid() && range.open.step == id &&
                      ranges_.meaning(id).step_kind == StepKind::decode;
    if (!stage && !step) continue;
    candidates.push_back(
        {trace_.ranges.thread[range.row], trace_.ranges.start[range.row], id, step});
  }
  std::ranges::sort(candidates, {}, [](const StageOrStep& each) {
    return std::tuple(each.thread, each.start, each.range);
  });
  for (size_t i = 0; i < candidates.size(); ++i) {
    if (!candidates[i].step) continue;
    const bool goes_on =
        i > 0 && candidates[i - 1].step && candidates[i - 1].thread == candidates[i].thread;
    if (!goes_on) {
      add_unit(candidates[i].range, std::string(to_string(StepKind::decode)));
      continue;
    }
    const StageUnitId loop = unit_of_range_[candidates[i - 1].range.index()];
    unit_of_range_[candidates[i].range.index()] = loop;
    Nanoseconds& end = units_[loop.index()].end;
    end = std::max(end, trace_.ranges.end[ranges_[candidates[i].range].row]);
  }
}

NotedSteps::NotedSteps(const trace::Trace& trace, const MeaningfulRanges& ranges) {
  const trace::StepTable& steps = trace.steps;
  if (steps.size() == 0) return;
  notes_.resize(ranges.ranges().size());
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
    Note& note = notes_[range.index()];
    if (note.times++ == 0) note.kind = noted_kind(steps.kind[i]);
    note.batch = steps.batch[i];
    note.tokens += steps.tokens[i];
  }
}

bool NotedSteps::is_step_itself(OpenRangeId stage) const {
  const Note& note = notes_[stage.index()];
  if (has_step_ranges_[stage.index()]) return false;
  return note.times == 1 || (note.times > 1 && note.kind == StepKind::prefill);
}

}  // namespace llmprof::analysis
