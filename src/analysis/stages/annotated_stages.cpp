#include "analysis/stages/annotated_stages.h"

#include <algorithm>
#include <map>

#include "analysis/stages/measure_stages.h"
#include "analysis/stages/stage_ranges.h"
#include "analysis/tracing/untraced_gpu_time.h"

namespace llmprof::analysis {
namespace {

// Rows of one range, one per GPU it worked on: usually one.
template <class IdType>
class RowsByDevice {
 public:
  explicit RowsByDevice(size_t ranges) : first_(ranges) {}

  // Calls `make` for a GPU that is new to the range.
  template <class Make>
  IdType find_or_make(size_t range, trace::DeviceId device, const Make& make) {
    Entry& first = first_[range];
    if (!first.id.valid()) first = {device, make()};
    if (first.device == device) return first.id;
    IdType& further = further_[{range, device}];
    if (!further.valid()) further = make();
    return further;
  }
  [[nodiscard]] bool any(size_t range) const { return first_[range].id.valid(); }

 private:
  struct Entry {
    trace::DeviceId device;
    IdType id;
  };
  std::vector<Entry> first_;
  std::map<std::pair<size_t, trace::DeviceId>, IdType> further_;
};

class Attribution {
 public:
  Attribution(const trace::Trace& trace, const MeaningfulRanges& ranges,
              const StageRanges& stage_ranges)
      : trace_(trace),
        ranges_(ranges),
        stage_ranges_(stage_ranges),
        noted_(trace, ranges),
        periods_(trace),
        instances_(stage_ranges.units().size()),
        steps_(ranges.ranges().size()),
        vision_(ranges.ranges().size()) {
    stages_.serving = stage_ranges.serving();
  }

  // Stages with instances, steps and owners, not yet measured.
  Stages run(Diagnostics& diagnostics) {
    WorkOwners& owners = stages_.owners;
    attribute(trace_.kernels, owners.kernel_instance, owners.kernel_step);
    attribute(trace_.memory_operations, owners.memory_instance, owners.memory_step);
    attribute(trace_.graph_replays, owners.replay_instance, owners.replay_step);
    sum_vision();
    add_units_without_work(diagnostics);
    if (periods_.any_untraced()) count_untraced_steps();
    add_notes();
    return std::move(stages_);
  }

 private:
  struct VisionWork {
    uint64_t kernel_count = 0;
    Nanoseconds kernel_sum = 0;
    InstanceId instance;
  };

  template <class Table>
  void attribute(const Table& table, std::vector<InstanceId>& instance, std::vector<StepId>& step) {
    instance.assign(table.size(), InstanceId());
    step.assign(table.size(), StepId());
    MeaningfulRanges::Cursor cursor(ranges_);
    for (size_t i = 0; i < table.size(); ++i) {
      const OpenAt& open = cursor.at(table.launch[i]);
      const StageUnitId unit = stage_ranges_.unit_of(open);
      if (!unit.valid()) continue;
      const trace::DeviceId device = trace_.queues[table.queue[i]].device;
      instance[i] = instance_of(unit, device);
      const OpenRangeId of_step = noted_.step_of(open);
      if (of_step.valid()) step[i] = step_of(of_step, instance[i], device);
    }
  }

  InstanceId instance_of(StageUnitId id, trace::DeviceId device) {
    return instances_.find_or_make(id.index(), device, [&] {
      const StageUnit& unit = stage_ranges_.units()[id.index()];
      StageInstance& instance = stages_.instances.emplace_back();
      instance.stage = stage_row(unit);
      instance.process = unit.process;
      instance.device = device;
      instance.start = unit.start;
      instance.range_end = unit.end;
      instance.warmup = unit.warmup;
      unit_of_instance_.push_back(id);
      return InstanceId(stages_.instances.size() - 1);
    });
  }

  uint32_t stage_row(const StageUnit& unit) {
    const auto [known, fresh] =
        rows_.try_emplace(unit.stage, static_cast<uint32_t>(stages_.stages.size()));
    if (fresh) {
      Stage& stage = stages_.stages.emplace_back();
      stage.name = unit.stage;
      stage.source = unit.source;
      stage.label = unit.label;
    }
    return known->second;
  }

  StepId step_of(OpenRangeId range, InstanceId instance, trace::DeviceId device) {
    return steps_.find_or_make(range.index(), device, [&] {
      const RangeMeaning& meaning = ranges_.meaning(range);
      const uint32_t row = ranges_[range].row;
      const std::string& stage = stages_.stages[stages_.instances[instance.index()].stage].name;
      Step step;
      step.instance = instance;
      step.kind = meaning.step_kind.value_or(
          stage == to_string(StepKind::prefill) ? StepKind::prefill : StepKind::decode);
      step.batch = meaning.batch;
      step.tokens = meaning.tokens;
      step.phases = phases_of(range);
      if (const NotedSteps::Note* note = noted_.of(range)) {
        step.kind = note->kind;
        if (note->batch > 0) step.batch = note->batch;
        if (note->tokens > 0) step.tokens = note->tokens;
      }
      step.start = trace_.ranges.start[row];
      step.end = trace_.ranges.end[row] == trace::kOpenEnd ? step.start : trace_.ranges.end[row];
      stages_.steps.push_back(step);
      return StepId(stages_.steps.size() - 1);
    });
  }

  // An engine may annotate one step twice, with more detail in the inner range.
  [[nodiscard]] const StepBatch& phases_of(OpenRangeId range) const {
    const RangeMeaning& own = ranges_.meaning(range);
    const OpenRangeId again = ranges_[range].inner_step;
    if (!again.valid() || own.phases.sums()) return own.phases;
    const RangeMeaning& inner = ranges_.meaning(again);
    const bool same = inner.step_kind == own.step_kind && inner.batch == own.batch;
    return same && inner.phases.sums() ? inner.phases : own.phases;
  }

  void sum_vision() {
    if (!ranges_.any(RangeMeaning::Kind::vision)) return;
    MeaningfulRanges::Cursor cursor(ranges_);
    const trace::KernelTable& kernels = trace_.kernels;
    for (size_t i = 0; i < kernels.size(); ++i) {
      const InstanceId instance = stages_.owners.kernel_instance[i];
      if (!instance.valid()) continue;
      const OpenRangeId range = cursor.at(kernels.launch[i]).vision;
      if (!range.valid()) continue;
      VisionWork& work = vision_[range.index()];
      ++work.kernel_count;
      work.kernel_sum += kernels.end[i] - kernels.start[i];
      work.instance = instance;
    }
  }

  // Stages without GPU work still have times. But if other occurrences of the stage have GPU work,
  // those without it (another thread's or process's copy) are not instances.
  void add_units_without_work(Diagnostics& diagnostics) {
    std::vector<bool> without(stage_ranges_.units().size(), false);
    uint64_t left_out = 0;
    uint64_t untraced = 0;
    for (size_t i = 0; i < without.size(); ++i) {
      if (instances_.any(i)) continue;
      const StageUnit& unit = stage_ranges_.units()[i];
      const bool unseen = !periods_.traced_at(unit.process, unit.start);
      without[i] = !unseen && !rows_.contains(unit.stage);
      if (!without[i]) ++(unseen ? untraced : left_out);
    }
    for (size_t i = 0; i < without.size(); ++i) {
      if (without[i]) instance_of(StageUnitId(i), trace::DeviceId());
    }
    for (size_t i = 0; i < ranges_.ranges().size(); ++i) {
      const OpenAt& open = ranges_.ranges()[i].open;
      const StageUnitId unit = stage_ranges_.unit_of(open);
      if (open.step != OpenRangeId(i) || !unit.valid() || !without[unit.index()]) continue;
      step_of(open.step, instance_of(unit, trace::DeviceId()), trace::DeviceId());
    }
    if (left_out > 0) {
      diagnostics.info("stage_ranges_without_gpu_work",
                       "stage ranges in which no GPU work was launched; they are excluded",
                       left_out);
    }
    if (untraced > 0) {
      diagnostics.info(
          "stage_ranges_not_traced",
          "stage ranges that began while the collector was not tracing, so that no GPU "
          "work was recorded for them; they are excluded",
          untraced);
    }
  }

  void count_untraced_steps();
  void add_notes();

  const trace::Trace& trace_;
  const MeaningfulRanges& ranges_;
  const StageRanges& stage_ranges_;
  NotedSteps noted_;
  TracingPeriods periods_;
  RowsByDevice<InstanceId> instances_;
  RowsByDevice<StepId> steps_;
  std::vector<StageUnitId> unit_of_instance_;
  std::map<std::string, uint32_t, std::less<>> rows_;  // stages by name
  std::vector<VisionWork> vision_;                     // by range, without ranges inside it
  Stages stages_;
};

// Tracing switches at the start of steps, so the state at a step's end held for all of it.
void Attribution::count_untraced_steps() {
  std::vector<std::vector<Nanoseconds>> untraced(stage_ranges_.units().size());  // starts
  for (size_t i = 0; i < ranges_.ranges().size(); ++i) {
    const OpenAt& open = ranges_.ranges()[i].open;
    const StageUnitId unit = stage_ranges_.unit_of(open);
    if (open.step != OpenRangeId(i) || !unit.valid() || steps_.any(i)) continue;
    const uint32_t row = ranges_.ranges()[i].row;
    const trace::ProcessId process = stage_ranges_.units()[unit.index()].process;
    const Nanoseconds start = trace_.ranges.start[row];
    const Nanoseconds end =
        trace_.ranges.end[row] == trace::kOpenEnd ? start : trace_.ranges.end[row];
    if (!periods_.traced_at(process, end)) untraced[unit.index()].push_back(start);
  }
  std::vector<std::vector<uint32_t>> steps(stages_.instances.size());
  for (uint32_t i = 0; i < stages_.steps.size(); ++i) {
    steps[stages_.steps[i].instance.index()].push_back(i);
  }
  for (size_t i = 0; i < stages_.instances.size(); ++i) {
    std::vector<Nanoseconds>& missing = untraced[unit_of_instance_[i].index()];
    std::ranges::sort(missing);
    stages_.instances[i].untraced_steps = static_cast<uint32_t>(missing.size());
    std::ranges::sort(steps[i], {}, [&](uint32_t row) { return stages_.steps[row].start; });
    auto counted = missing.begin();
    for (const uint32_t row : steps[i]) {
      const auto before = std::lower_bound(counted, missing.end(), stages_.steps[row].start);
      stages_.steps[row].untraced_before = static_cast<uint32_t>(before - counted);
      counted = before;
    }
  }
}

// A note includes the notes inside it ("vision_tower" includes its "sam").
void Attribution::add_notes() {
  std::map<std::pair<uint32_t, std::string>, NotedPart> notes;
  for (size_t i = 0; i < vision_.size(); ++i) {
    if (ranges_.meaning(OpenRangeId(i)).kind != RangeMeaning::Kind::vision) continue;
    const uint32_t row = ranges_.ranges()[i].row;
    const Nanoseconds end = trace_.ranges.end[row];
    if (!vision_[i].instance.valid()) continue;
    const uint32_t stage = stages_.instances[vision_[i].instance.index()].stage;
    std::vector<std::string_view> counted;
    for (OpenRangeId range(i); range.valid(); range = ranges_[range].parent) {
      const RangeMeaning& meaning = ranges_.meaning(range);
      if (meaning.kind != RangeMeaning::Kind::vision) continue;
      if (std::ranges::count(counted, meaning.name) > 0) continue;
      counted.emplace_back(meaning.name);
      NotedPart& note = notes[{stage, meaning.name}];
      note.stage = stage;
      note.name = meaning.name;
      note.kernel_count += vision_[i].kernel_count;
      note.kernel_sum += vision_[i].kernel_sum;
    }
    NotedPart& own = notes[{stage, ranges_.meaning(OpenRangeId(i)).name}];
    ++own.instances;
    if (end != trace::kOpenEnd) own.range_time += end - trace_.ranges.start[row];
  }
  for (auto& [key, note] : notes) stages_.notes.push_back(std::move(note));
}

bool has_gpu_work(const trace::Trace& trace) {
  return trace.kernels.size() > 0 || trace.graph_replays.size() > 0;
}

bool lacks_steps(const Stages& stages) {
  std::vector<bool> has_steps(stages.instances.size(), false);
  for (const Step& step : stages.steps) has_steps[step.instance.index()] = true;
  for (size_t i = 0; i < has_steps.size(); ++i) {
    if (stages.instances[i].device.valid() && !has_steps[i]) return true;
  }
  return false;
}

}  // namespace

std::optional<Stages> annotated_stages(const trace::Trace& trace, const MeaningfulRanges& ranges,
                                       Diagnostics& diagnostics, const AddSteps& add_steps) {
  const StageRanges stage_ranges(trace, ranges);
  if (stage_ranges.units().empty()) return std::nullopt;
  Stages stages = Attribution(trace, ranges, stage_ranges).run(diagnostics);
  const bool worked = std::ranges::any_of(
      stages.instances, [](const StageInstance& instance) { return instance.device.valid(); });
  if (!worked && has_gpu_work(trace)) {
    diagnostics.warn("stage_ranges_empty",
                     trace.launches.size() == 0
                         ? "stage ranges cannot be used: the capture has no CUDA API calls that "
                           "show which kernel was launched inside them; record with CUDA "
                           "API tracing"
                         : "stage ranges in which no kernel was launched; they are not used",
                     stage_ranges.units().size());
    return std::nullopt;
  }
  if (add_steps && worked && !stages.serving && lacks_steps(stages)) add_steps(stages);
  measure_stages(trace, stages, diagnostics);
  return stages;
}

}  // namespace llmprof::analysis
