#include "exports/perfetto/tracks.h"

#include <algorithm>
#include <unordered_map>

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

// A layer of one pass lasts from its first kernel's start to its last one's end, or until the next
// layer starts: kernels that overlap by a little do not make layers that overlap.
std::vector<Interval> layers_on(const PlacedSource& source, trace::DeviceId device) {
  const trace::KernelTable& kernels = source.trace.kernels;
  const analysis::WorkOwners& owners = source.results.stages.owners;
  const auto& layer_of = source.results.layers.of_kernel;
  std::vector<Interval> intervals;
  std::unordered_map<uint64_t, size_t> known;  // by pass and layer
  for (size_t i = 0; i < layer_of.size(); ++i) {
    if (!layer_of[i].valid()) continue;
    if (source.trace.queues[kernels.queue[i]].device != device) continue;
    constexpr uint64_t kInstances = 1UL << 31U;
    const uint64_t pass = owners.kernel_step[i].valid()
                              ? owners.kernel_step[i].index()
                              : kInstances | owners.kernel_instance[i].index();
    const auto [place, fresh] =
        known.try_emplace(pass << 32U | layer_of[i].value, intervals.size());
    if (fresh) {
      intervals.push_back({kernels.start[i], kernels.end[i], 0, layer_of[i].value});
    } else {
      Interval& layer = intervals[place->second];
      layer.end = std::max(layer.end, kernels.end[i]);
    }
  }
  for (size_t i = 0; i + 1 < intervals.size(); ++i) {
    intervals[i].end = std::min(intervals[i].end, intervals[i + 1].start);
  }
  return intervals;
}

class StageTracks {
 public:
  StageTracks(const PlacedSource& source, TrackUuid parent, TraceFile& file)
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
    for (const Lane& lane : in_lanes(std::move(intervals), Nesting::none)) {
      Sequence sequence = file_.sequence(file_.track(parent_, name));
      write_lane(lane, sequence, [&](const Interval& interval) {
        annotations_.clear();
        sequence.begin(interval.start, describe(interval));
      });
    }
  }

  const analysis::Stages& stages_;
  const analysis::Layers& layers_;
  TrackUuid parent_;
  TraceFile& file_;
  std::vector<Annotation> annotations_;  // of the slice that is being written
};

}  // namespace

void write_stage_tracks(const PlacedSource& source, trace::DeviceId device, TrackUuid parent,
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
