#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <set>

#include "analysis/timeline/timeline.h"
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
        work_(trace_.queues.size()),
        shapes_(trace_.shapes.size()) {
    names_ = {file_.text("kernel"), file_.text("shape"), file_.text("stage"), file_.text("step"),
              file_.text("layer"),  file_.text("graph"), file_.text("FLOPs"), file_.text("bytes")};
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
    for (const analysis::LayerRow& layer : results_.layers.rows) {
      layers_.push_back(file_.text(layer.name));
    }
    gather();
  }

  void gather() {
    const auto add = [&](const auto& table, WorkKind kind) {
      for (size_t row = 0; row < table.size(); ++row) {
        work_[table.queue[row].index()].push_back(
            {table.start[row], std::max(table.start[row], table.end[row]),
             static_cast<uint8_t>(kind), static_cast<uint32_t>(row)});
      }
    };
    add(trace_.kernels, WorkKind::kernel);
    add(trace_.memory_operations, WorkKind::memory_operation);
    add(trace_.graph_replays, WorkKind::graph_replay);
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
    file_.write(
        std::move(work_[queue.index()]), Nesting::none, [&] { return file_.track(parent, name); },
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
      if (places.empty() || analysis::to_string(places[row]).empty()) return;
      annotations_.push_back({file_.text(name), file_.text(analysis::to_string(places[row]))});
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
  // Argument names, looked up once instead of for every kernel.
  struct ArgumentNames {
    TextId kernel;
    TextId shape;
    TextId stage;
    TextId step;
    TextId layer;
    TextId graph;
    TextId flops;
    TextId bytes;
  };

  const trace::Trace& trace_;
  const analysis::Results& results_;
  const WorkOfLaunches& launched_;
  TraceFile& file_;
  std::vector<std::vector<Interval>> work_;  // by queue
  std::vector<KernelTexts> kernels_;         // by row of the ranking
  std::vector<TextId> shapes_;               // by shape, filled on demand
  ArgumentNames names_;
  std::vector<TextId> stages_;
  std::vector<TextId> layers_;
  std::vector<Annotation> annotations_;  // of the current slice
  bool several_processes_ = false;       // on the current GPU
  bool several_contexts_ = false;
};

}  // namespace

WriteDevice gpu_tracks(const ExportSource& source, const WorkOfLaunches& launched,
                       TraceFile& file) {
  auto tracks = std::make_shared<GpuTracks>(source, launched, file);
  return [tracks](trace::DeviceId device, TrackUuid parent) { tracks->write(device, parent); };
}

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

}  // namespace llmprof::exports
