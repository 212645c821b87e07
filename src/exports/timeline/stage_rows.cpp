#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "analysis/budget/gpu_timeline.h"
#include "exports/timeline/parts.h"

namespace llmprof::exports {
namespace {

constexpr uint8_t kWarmup = 1;

// The instances or steps of each device, by start; what has no GPU work comes last.
template <class DeviceOf, class StartOf>
std::map<trace::DeviceId, std::vector<uint32_t>> by_device(size_t rows, const DeviceOf& device_of,
                                                           const StartOf& start_of) {
  std::map<trace::DeviceId, std::vector<uint32_t>> found;
  for (uint32_t row = 0; row < rows; ++row) found[device_of(row)].push_back(row);
  for (auto& [device, of_device] : found) {
    std::stable_sort(of_device.begin(), of_device.end(),
                     [&](uint32_t a, uint32_t b) { return start_of(a) < start_of(b); });
  }
  return found;
}

Track stage_track(const PlacedSource& source, trace::DeviceId device, std::string_view table,
                  size_t first, size_t count) {
  Track track;
  track.kind = table;
  track.table = table;
  track.label = table;
  track.group = group_of(source, device);
  track.device = device_of(source, device);
  track.id = fmt::format("{}/{}", track.group, table);
  track.first = first;
  track.count = count;
  return track;
}

void add_instances(const PlacedSource& source, Draft& draft) {
  const analysis::Stages& stages = source.results.stages;
  const auto& instances = stages.instances;
  Table& table = draft.table("stages", {{"start", Coding::sdelta},
                                        {"duration", Coding::u},
                                        {"name", Coding::u},
                                        {"index", Coding::u},
                                        {"flags", Coding::u8}});
  std::vector<uint64_t> next(stages.stages.size(), 0);
  std::vector<uint64_t> place;  // among those of its stage
  place.reserve(instances.size());
  for (const analysis::StageInstance& instance : instances) place.push_back(next[instance.stage]++);
  draft.rows.instance.assign(instances.size(), RowsOf::kNone);
  const auto devices = by_device(
      instances.size(), [&](uint32_t row) { return instances[row].device; },
      [&](uint32_t row) { return instances[row].start; });
  for (const auto& [device, of_device] : devices) {
    draft.add_track(stage_track(source, device, "stages", table.rows, of_device.size()));
    for (const uint32_t row : of_device) {
      const analysis::StageInstance& instance = instances[row];
      table.add(draft.at(instance.start), draft.length(instance.start, instance.end),
                draft.names.add(stages.stages[instance.stage].name), place[row],
                instance.warmup ? kWarmup : 0);
      draft.rows.instance[row] = static_cast<uint32_t>(table.rows++);
    }
  }
}

void add_steps(const PlacedSource& source, Draft& draft) {
  const analysis::Stages& stages = source.results.stages;
  const auto& steps = stages.steps;
  Table& table = draft.table("steps", {{"start", Coding::sdelta},
                                       {"duration", Coding::u},
                                       {"name", Coding::u},
                                       {"index", Coding::u}});
  draft.rows.step.assign(steps.size(), RowsOf::kNone);
  const auto devices = by_device(
      steps.size(),
      [&](uint32_t row) { return stages.instances[steps[row].instance.index()].device; },
      [&](uint32_t row) { return steps[row].start; });
  for (const auto& [device, of_device] : devices) {
    draft.add_track(stage_track(source, device, "steps", table.rows, of_device.size()));
    for (const uint32_t row : of_device) {
      table.add(draft.at(steps[row].start), draft.length(steps[row].start, steps[row].end),
                draft.names.add(to_string(steps[row].kind)), row);
      draft.rows.step[row] = static_cast<uint32_t>(table.rows++);
    }
  }
}

// A layer of one pass: from its first kernel's start to its last one's end.
struct LayerSpan {
  uint64_t pass = 0;
  analysis::LayerRowId layer;
  Nanoseconds start = 0;
  Nanoseconds end = 0;
};

// Kernels of a layer follow each other but for a few that overlap the next one.
class LayerSpans {
 public:
  void add(uint64_t pass, analysis::LayerRowId layer, Nanoseconds start, Nanoseconds end) {
    constexpr size_t kLookBack = 4;
    for (size_t i = 0; i < std::min(kLookBack, spans_.size()); ++i) {
      LayerSpan& span = spans_[spans_.size() - 1 - i];
      if (span.pass != pass || span.layer != layer) continue;
      span.end = std::max(span.end, end);
      return;
    }
    spans_.push_back({pass, layer, start, end});
  }
  [[nodiscard]] const std::vector<LayerSpan>& spans() const { return spans_; }

 private:
  std::vector<LayerSpan> spans_;
};

using analysis::GpuWorkRow;

uint8_t cause_before(const analysis::IdleBefore& idle, const GpuWorkRow& work) {
  const std::vector<uint8_t>& causes = work.kind == analysis::GpuWorkKind::kernel ? idle.kernel
                                       : work.kind == analysis::GpuWorkKind::memory_operation
                                           ? idle.memory_operation
                                           : idle.graph_replay;
  return work.row < causes.size() ? causes[work.row] : analysis::IdleBefore::kNotIdle;
}

}  // namespace

void add_stage_rows(const PlacedSource& source, Draft& draft) {
  add_instances(source, draft);
  add_steps(source, draft);
}

void add_layer_rows(const PlacedSource& source, Draft& draft) {
  const trace::KernelTable& kernels = source.trace.kernels;
  const analysis::WorkOwners& owners = source.results.stages.owners;
  const auto& layer_of = source.results.layers.of_kernel;
  std::map<trace::DeviceId, LayerSpans> devices;
  std::vector<LayerSpans*> of_queue(source.trace.queues.size(), nullptr);
  for (size_t row = 0; row < layer_of.size(); ++row) {
    if (!layer_of[row].valid()) continue;
    constexpr uint64_t kInstances = 1ULL << 32U;
    const uint64_t pass = owners.kernel_step[row].valid()
                              ? owners.kernel_step[row].index()
                              : kInstances | owners.kernel_instance[row].value;
    LayerSpans*& spans = of_queue[kernels.queue[row].index()];
    if (spans == nullptr) spans = &devices[source.trace.queues[kernels.queue[row]].device];
    spans->add(pass, layer_of[row], kernels.start[row], kernels.end[row]);
  }
  Table& table = draft.table(
      "layers", {{"start", Coding::sdelta}, {"duration", Coding::u}, {"name", Coding::u}});
  std::vector<uint32_t> names;  // by row of the layers
  names.reserve(source.results.layers.rows.size());
  for (const analysis::LayerRow& layer : source.results.layers.rows) {
    names.push_back(draft.names.add(layer.name));
  }
  for (const auto& [device, found] : devices) {
    draft.add_track(stage_track(source, device, "layers", table.rows, found.spans().size()));
    table.rows += found.spans().size();
    for (const LayerSpan& span : found.spans()) {
      table.add(draft.at(span.start), draft.length(span.start, span.end),
                names[span.layer.index()]);
    }
  }
}

void add_gap_summary(const PlacedSource& source, Draft& draft) {
  const trace::Trace& trace = source.trace;
  const analysis::Stages& stages = source.results.stages;
  if (stages.instances.empty()) return;
  std::vector<Nanoseconds> busy_until(trace.devices.size(), INT64_MIN);
  analysis::each_gpu_work(trace, stages.owners, [&](const GpuWorkRow& work) {
    const trace::DeviceId device = trace.queues[work.queue].device;
    if (!device.valid()) return;
    Nanoseconds& until = busy_until[device.index()];
    const Nanoseconds from = until;
    until = std::max(until, work.end);
    const uint8_t cause = cause_before(source.results.idle_before, work);
    if (cause == analysis::IdleBefore::kNotIdle || !work.instance.valid()) return;
    const analysis::StageInstance& instance = stages.instances[work.instance.index()];
    // What lies before the instance is not its own.
    if (instance.warmup || from < instance.start) return;
    GapsOfCause& sum = draft.gaps[{stages.stages[instance.stage].name, cause}];
    const uint64_t length = draft.length(from, work.start);
    ++sum.count;
    sum.total += length;
    if (length <= sum.longest) return;
    sum.longest = length;
    sum.longest_start = draft.at(from);
  });
}

}  // namespace llmprof::exports
