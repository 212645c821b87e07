#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "exports/perfetto/memory_track.h"
#include "exports/perfetto/tracks.h"

namespace llmprof::exports {
namespace {

std::string extent_text(const trace::Extent& extent) {
  return fmt::format("{} x {} x {}", extent[0], extent[1], extent[2]);
}

// The streams of GPUs, each with its kernels, copies, fills and graph replays.
class GpuTracks {
 public:
  GpuTracks(const ExportSource& source, const WorkOfLaunches& launched, TraceFile& file)
      : trace_(source.trace),
        results_(source.results),
        launched_(launched),
        file_(file),
        work_(work_by_queue(trace_)),
        shapes_(trace_.shapes.size()) {
    for (const analysis::KernelRow& row : results_.ranking.rows) {
      KernelTexts& texts = kernels_.emplace_back();
      texts.name = file_.text(row.description.short_name);
      texts.full_name = file_.text(trace_.strings[row.name]);
      texts.kernel_class = file_.text(to_string(row.description.kernel_class));
      for (const ComputeMetric& metric : compute_metrics()) {
        if (!metric.headline) continue;
        if (const auto value = find_metric(row.metrics, metric)) {
          texts.metrics.push_back({file_.text(fmt::format("ncu.{}", metric.name)), *value});
        }
      }
    }
    for (const analysis::Stage& stage : results_.stages.stages) {
      stages_.push_back(file_.text(stage.name));
    }
    for (const profile::Layer& layer : results_.layers.rows) {
      layers_.push_back(file_.text(layer.name));
    }
  }

  std::string queue_name(trace::QueueId id) const {
    const trace::Queue& queue = trace_.queues[id];
    if (trace_.device_of(id).kind == trace::DeviceKind::cpu) return "Operators";
    std::string name = fmt::format("Stream {}", queue.stream);
    if (several_contexts_) name += fmt::format(", context {}", queue.context);
    if (several_processes_ && queue.process.valid()) {
      name += fmt::format(", process {}", trace_.processes[queue.process.index()].pid);
    }
    return name;
  }

  void write(trace::DeviceId device, TrackUuid parent) {
    std::set<trace::ProcessId> processes;
    std::set<uint32_t> contexts;
    for (const trace::Queue& queue : trace_.queues.values()) {
      if (queue.device != device) continue;
      processes.insert(queue.process);
      contexts.insert(queue.context);
    }
    several_processes_ = processes.size() > 1;
    several_contexts_ = contexts.size() > 1;
    for (size_t i = 0; i < trace_.queues.size(); ++i) {
      const trace::QueueId queue(i);
      if (trace_.queues[queue].device == device && !work_[i].empty()) write_queue(queue, parent);
    }
  }

  void write_queue(trace::QueueId queue, TrackUuid parent) {
    const std::string name = queue_name(queue);
    Intervals intervals;
    intervals.reserve(work_[queue.index()].size());
    for (const WorkRow row : work_[queue.index()]) intervals.push_back(interval_of(trace_, row));
    file_.write(
        std::move(intervals), Nesting::none, [&] { return file_.track(parent, name); },
        [&](const Interval& work) { return slice_of(work); });
  }

  Slice slice_of(const Interval& work) {
    annotations_.clear();
    const auto kind = static_cast<WorkKind>(work.kind);
    Slice slice = kind == WorkKind::kernel             ? kernel_slice(work.row)
                  : kind == WorkKind::memory_operation ? memory_slice(work.row)
                                                       : replay_slice(work.row);
    slice.annotations = annotations_;
    slice.flow_to = launched_.flow_to(kind, work.row);
    return slice;
  }

  TextId shape_text(trace::ShapeId id) {
    TextId& known = shapes_[id.index()];
    if (known.valid()) return known;
    const trace::LaunchShape& shape = trace_.shapes[id];
    std::string text =
        fmt::format("grid {}, block {}", extent_text(shape.grid), extent_text(shape.block));
    if (shape.registers_per_thread > 0) {
      text += fmt::format(", {} registers per thread", shape.registers_per_thread);
    }
    if (const uint32_t shared = shape.static_shared_bytes + shape.dynamic_shared_bytes;
        shared > 0) {
      text += fmt::format(", {} B shared memory per block", shared);
    }
    known = file_.text(text);
    return known;
  }

  void annotate_kernel(size_t kernel, uint32_t ranked) {
    const auto add = [&](TextId name, std::variant<uint64_t, double, TextId> value) {
      annotations_.push_back({name, value});
    };
    const trace::KernelTable& kernels = trace_.kernels;
    if (ranked != analysis::KernelRanking::kNoRow &&
        kernels_[ranked].full_name != kernels_[ranked].name) {
      add(names_.kernel, kernels_[ranked].full_name);
    }
    if (trace_.shapes[kernels.shape[kernel]].block[0] > 0) {
      add(names_.shape, shape_text(kernels.shape[kernel]));
    }
    const analysis::WorkOwners& owners = results_.stages.owners;
    if (kernel < owners.kernel_instance.size() && owners.kernel_instance[kernel].valid()) {
      const auto& instance = results_.stages.instances[owners.kernel_instance[kernel].index()];
      add(names_.stage, stages_[instance.stage]);
      if (const analysis::StepId step = owners.kernel_step[kernel]; step.valid()) {
        add(names_.step, static_cast<uint64_t>(step.index() - instance.first_step));
      }
    }
    const auto& layers = results_.layers.of_kernel;
    if (kernel < layers.size() && layers[kernel].valid())
      add(names_.layer, layers_[layers[kernel].index()]);
    if (!kernels.graph.empty() && kernels.graph[kernel] != 0) {
      add(names_.graph, static_cast<uint64_t>(kernels.graph[kernel]));
    }
    if (!kernels.flops.empty() && kernels.flops[kernel] > 0)
      add(names_.flops, kernels.flops[kernel]);
    if (!kernels.bytes.empty() && kernels.bytes[kernel] > 0)
      add(names_.bytes, kernels.bytes[kernel]);
    const auto& measured = results_.ranking.measured_kernels;
    if (ranked != analysis::KernelRanking::kNoRow && kernel < measured.size() && measured[kernel]) {
      const std::vector<Annotation>& metrics = kernels_[ranked].metrics;
      annotations_.insert(annotations_.end(), metrics.begin(), metrics.end());
    }
  }

  Slice kernel_slice(size_t kernel) {
    const uint32_t ranked = results_.ranking.row_of(kernel);
    annotate_kernel(kernel, ranked);
    if (ranked != analysis::KernelRanking::kNoRow)
      return {kernels_[ranked].name, kernels_[ranked].kernel_class};
    return {file_.text(trace_.strings[trace_.kernels.name[kernel]]), {}};
  }

  Slice memory_slice(size_t row) {
    const trace::MemoryOperationTable& table = trace_.memory_operations;
    const bool fill = table.kind[row] == trace::MemoryKind::set;
    const std::string_view direction = trace_.strings[table.detail[row]];
    annotations_.push_back({names_.bytes, table.bytes[row]});
    const auto add_place = [&](std::string_view name, const auto& places) {
      if (places.empty() || places[row] == trace::MemoryPlace::unknown) return;
      annotations_.push_back({file_.text(name), file_.text(profile::to_string(places[row]))});
    };
    add_place("from", table.from);
    add_place("to", table.to);
    return {file_.text(fill ? "Memset"
                            : fmt::format("Memcpy{}{}", direction.empty() ? "" : " ", direction)),
            file_.text(to_string(analysis::KernelClass::memory))};
  }

  Slice replay_slice(size_t row) {
    return {file_.text(fmt::format("CUDA graph {} (kernels not recorded)",
                                   trace_.graph_replays.graph[row])),
            file_.text("graph")};
  }

 private:
  // Shared by all launches of a row of the ranking.
  struct KernelTexts {
    TextId name;
    TextId full_name;
    TextId kernel_class;
    std::vector<Annotation> metrics;  // ncu's headline metrics
  };
  const trace::Trace& trace_;
  const analysis::Results& results_;
  const WorkOfLaunches& launched_;
  TraceFile& file_;
  std::vector<std::vector<WorkRow>> work_;  // by queue
  std::vector<KernelTexts> kernels_;        // by row of the ranking
  std::vector<TextId> shapes_;              // by shape, filled on demand
  // Argument names, looked up once instead of for every kernel.
  struct {
    TextId kernel, shape, stage, step, layer, graph, flops, bytes;
  } names_ = {file_.text("kernel"), file_.text("shape"), file_.text("stage"), file_.text("step"),
              file_.text("layer"),  file_.text("graph"), file_.text("FLOPs"), file_.text("bytes")};
  std::vector<TextId> stages_;
  std::vector<TextId> layers_;
  std::vector<Annotation> annotations_;  // of the current slice
  bool several_processes_ = false;       // on the current GPU
  bool several_contexts_ = false;
};

// The rows (instances, steps) that ran on a GPU.
template <class Row, class DeviceOf>
Intervals intervals_on(trace::DeviceId device, const std::vector<Row>& rows,
                       const DeviceOf& device_of) {
  Intervals intervals;
  for (size_t i = 0; i < rows.size(); ++i) {
    if (device_of(rows[i]) != device) continue;
    intervals.push_back(
        {rows[i].start, std::max(rows[i].start, rows[i].end), 0, static_cast<uint32_t>(i)});
  }
  return intervals;
}

// A layer ends no later than the next one starts: slightly overlapping kernels do not make layers
// overlap.
Intervals layers_on(const ExportSource& source, trace::DeviceId device) {
  Intervals intervals;
  auto spans = layer_spans(source);
  for (const LayerSpan& span : spans[device]) {
    if (!intervals.empty()) intervals.back().end = std::min(intervals.back().end, span.start);
    intervals.push_back({span.start, span.end, 0, span.layer.value});
  }
  return intervals;
}

// Every counter and sensor of one GPU. A sample's value holds from its start to its end; if no
// other sample starts there, the track falls to 0. An instant reading holds until the next.
void write_counter_tracks(const trace::Trace& trace, trace::DeviceId device, TrackUuid parent,
                          TraceFile& file) {
  const trace::CounterTable& counters = trace.counters;
  each_counter(counters, [&](size_t first, size_t end) {
    if (counters.device[first] != device) return;
    const trace::Metric& described = trace.metrics[counters.metric[first]];
    Sequence sequence = file.sequence(
        file.counter(parent, trace.strings[described.name], trace.strings[described.unit]));
    for (size_t i = first; i < end; ++i) {
      if (!std::isfinite(counters.value[i])) continue;
      sequence.counter(counters.start[i], counters.value[i]);
      if (falls_to_zero(counters, i, end)) sequence.counter(counters.end[i], 0);
    }
  });
}

// The stages, steps and layers on one GPU; those without a GPU if `device` is none.
void write_stage_tracks(const ExportSource& source, const RequestTracks& requests,
                        trace::DeviceId device, TrackUuid parent, TraceFile& file) {
  const analysis::Stages& stages = source.results.stages;
  std::vector<Annotation> annotations;  // of the current slice
  const auto add = [&](std::string_view name, std::variant<uint64_t, double, TextId> value) {
    annotations.push_back({file.text(name), value});
  };
  // `describe` adds a row's annotations and flows, and returns its name.
  const auto write = [&](std::string_view track, std::string_view category, Intervals intervals,
                         const auto& describe) {
    file.write(
        std::move(intervals), Nesting::none, [&] { return file.track(parent, track); },
        [&](const Interval& interval) {
          annotations.clear();
          Slice slice;
          slice.name = file.text(describe(interval.row, slice));
          slice.category = file.text(category);
          slice.annotations = annotations;
          return slice;
        });
  };
  write(
      "Stages", "stage",
      intervals_on(device, stages.instances, [](const auto& instance) { return instance.device; }),
      [&](uint32_t row, Slice& /*slice*/) {
        const analysis::StageInstance& instance = stages.instances[row];
        const analysis::Stage& stage = stages.stages[instance.stage];
        add("source", file.text(to_string(stage.source)));
        if (instance.step_count > 0) add("steps", static_cast<uint64_t>(instance.step_count));
        return instance.warmup ? stage.name + " (warm-up)" : stage.name;
      });
  const auto instance_of = [&](const analysis::Step& step) -> const analysis::StageInstance& {
    return stages.instances[step.instance.index()];
  };
  write("Steps", "step",
        intervals_on(device, stages.steps,
                     [&](const auto& step) { return instance_of(step).device; }),
        [&](uint32_t row, Slice& slice) {
          const analysis::Step& step = stages.steps[row];
          slice.flows_from = requests.of_step(row).begins;
          slice.flows_to = requests.of_step(row).ends;
          add("step", static_cast<uint64_t>(row - instance_of(step).first_step));
          if (step.batch) add("sequences", *step.batch);
          if (step.tokens) add("tokens", *step.tokens);
          add("kernels", step.work.kernel_count);
          return std::string(to_string(step.kind)) + " step";
        });
  if (!device.valid()) return;
  write("Layers", "layer", layers_on(source, device),
        [&](uint32_t row, Slice& /*slice*/) { return source.results.layers.rows[row].name; });
}

std::string device_name(const trace::Trace& trace, trace::DeviceId device) {
  const std::string label = analysis::device_label(trace, device);
  const std::string& name = trace.devices[device.index()].name;
  return name.empty() ? label : fmt::format("{}: {}", label, name);
}

bool is_used(const trace::Trace& trace, trace::DeviceId device) {
  const auto& queues = trace.queues.values();
  const auto& counters = trace.counters.device;
  const auto& readings = trace.memory_readings.device;
  return std::ranges::find(queues, device, &trace::Queue::device) != queues.end() ||
         std::ranges::find(counters, device) != counters.end() ||
         std::ranges::find(readings, device) != readings.end();
}

}  // namespace

void write_devices(const ExportSource& source, const WorkOfLaunches& launched,
                   const RequestTracks& requests,
                   const std::function<TrackUuid(std::string_view)>& add_group,
                   MeasuredNumbers& numbers, TraceFile& file) {
  const trace::Trace& trace = source.trace;
  GpuTracks streams(source, launched, file);
  uint32_t gpu_count = 0;
  for (size_t i = 0; i < trace.devices.size(); ++i) {
    const trace::DeviceId device(i);
    gpu_count = std::max(gpu_count, trace.devices[i].ordinal + 1);
    if (!is_used(trace, device)) continue;
    const TrackUuid group = add_group(device_name(trace, device));
    write_stage_tracks(source, requests, device, group, file);
    streams.write(device, group);
    write_counter_tracks(trace, device, group, file);
    write_memory_track(trace.memory_readings, device, group, file);
    write_measured_kernels(source, device, numbers, file);
  }
  const auto& instances = source.results.stages.instances;
  const trace::DeviceId none;
  if (std::ranges::find(instances, none, &analysis::StageInstance::device) != instances.end()) {
    write_stage_tracks(source, requests, none, add_group("Without GPU work"), file);
  }
  numbers.first_gpu += gpu_count;
}

}  // namespace llmprof::exports
