#include "exports/perfetto/tracks.h"

#include <algorithm>

namespace llmprof::exports {
namespace {

// The rows (instances, steps) that ran on a GPU.
template <class Row, class DeviceOf>
std::vector<Interval> intervals_on(trace::DeviceId device, const std::vector<Row>& rows,
                                   const DeviceOf& device_of) {
  std::vector<Interval> intervals;
  for (size_t i = 0; i < rows.size(); ++i) {
    if (device_of(rows[i]) != device) continue;
    intervals.push_back(
        {rows[i].start, std::max(rows[i].start, rows[i].end), 0, static_cast<uint32_t>(i)});
  }
  return intervals;
}

// A layer ends no later than the next one starts: slightly overlapping kernels do not make layers
// overlap.
std::vector<Interval> layers_on(const ExportSource& source, trace::DeviceId device) {
  std::vector<Interval> intervals;
  auto spans = layer_spans(source);
  for (const LayerSpan& span : spans[device]) {
    if (!intervals.empty()) intervals.back().end = std::min(intervals.back().end, span.start);
    intervals.push_back({span.start, span.end, 0, span.layer.value});
  }
  return intervals;
}

class StageTracks {
 public:
  StageTracks(const ExportSource& source, TrackUuid parent, TraceFile& file)
      : stages_(source.results.stages),
        layers_(source.results.layers),
        parent_(parent),
        file_(file) {}

  void write_instances(std::vector<Interval> intervals) {
    write("Stages", std::move(intervals), [&](const Interval& interval) {
      const analysis::StageInstance& instance = stages_.instances[interval.row];
      const analysis::Stage& stage = stages_.stages[instance.stage];
      add("source", file_.text(to_string(stage.source)));
      if (instance.step_count > 0) add("steps", static_cast<uint64_t>(instance.step_count));
      return slice(instance.warmup ? stage.name + " (warm-up)" : stage.name, "stage");
    });
  }

  void write_steps(std::vector<Interval> intervals) {
    write("Steps", std::move(intervals), [&](const Interval& interval) {
      const analysis::Step& step = stages_.steps[interval.row];
      const analysis::StageInstance& instance = stages_.instances[step.instance.index()];
      add("step", static_cast<uint64_t>(interval.row - instance.first_step));
      if (step.batch) add("sequences", *step.batch);
      if (step.tokens) add("tokens", *step.tokens);
      add("kernels", step.work.kernel_count);
      return slice(std::string(to_string(step.kind)) + " step", "step");
    });
  }

  void write_layers(std::vector<Interval> intervals) {
    write("Layers", std::move(intervals), [&](const Interval& interval) {
      return slice(layers_.rows[interval.row].name, "layer");
    });
  }

 private:
  void add(std::string_view name, std::variant<uint64_t, double, TextId> value) {
    annotations_.push_back({file_.text(name), value});
  }
  [[nodiscard]] Slice slice(std::string_view name, std::string_view category) {
    return {file_.text(name), file_.text(category), annotations_};
  }
  template <class Describe>
  void write(std::string_view name, std::vector<Interval> intervals, const Describe& describe) {
    file_.write(
        std::move(intervals), Nesting::none, [&] { return file_.track(parent_, name); },
        [&](const Interval& interval) {
          annotations_.clear();
          return describe(interval);
        });
  }

  const analysis::Stages& stages_;
  const analysis::Layers& layers_;
  TrackUuid parent_;
  TraceFile& file_;
  std::vector<Annotation> annotations_;  // of the current slice
};

}  // namespace

void write_stage_tracks(const ExportSource& source, trace::DeviceId device, TrackUuid parent,
                        TraceFile& file) {
  StageTracks tracks(source, parent, file);
  const analysis::Stages& stages = source.results.stages;
  tracks.write_instances(
      intervals_on(device, stages.instances, [](const auto& instance) { return instance.device; }));
  tracks.write_steps(intervals_on(device, stages.steps, [&](const analysis::Step& step) {
    return stages.instances[step.instance.index()].device;
  }));
  if (device.valid()) tracks.write_layers(layers_on(source, device));
}

}  // namespace llmprof::exports
