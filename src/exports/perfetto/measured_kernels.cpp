#include "exports/perfetto/tracks.h"

#include <array>
#include <set>
#include <utility>

#include "analysis/roofline/metric_lookup.h"
#include "base/text.h"

namespace llmprof::exports {
namespace {

constexpr std::array<ComputeMetric, 18> kComputeMetrics = {{
    {"sm__throughput.avg.pct_of_peak_sustained_elapsed", "Compute (SM) Throughput", "%", true},
    {"gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed", "Memory Throughput", "%",
     true},
    {"gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed", "DRAM Throughput", "%", true},
    {"gpu__time_duration.sum", "Duration", "ns", true},
    {"sm__warps_active.avg.pct_of_peak_sustained_active", "Achieved Occupancy", "%", true},
    {"sm__warps_active.avg.per_cycle_active", "Achieved Active Warps Per SM", "warp"},
    {"l1tex__throughput.avg.pct_of_peak_sustained_active", "L1/TEX Cache Throughput", "%"},
    {"lts__throughput.avg.pct_of_peak_sustained_elapsed", "L2 Cache Throughput", "%"},
    {"gpc__cycles_elapsed.max", "Elapsed Cycles", "cycle"},
    {"gpc__cycles_elapsed.avg.per_second", "SM Frequency", "hz"},
    {"dram__cycles_elapsed.avg.per_second", "DRAM Frequency", "hz"},
    {"sm__cycles_active.avg", "SM Active Cycles", "cycle"},
    {"sm__inst_executed.avg.per_cycle_active", "Executed Ipc Active", "inst/cycle"},
    {"sm__inst_executed.avg.per_cycle_elapsed", "Executed Ipc Elapsed", "inst/cycle"},
    {"sm__inst_issued.avg.per_cycle_active", "Issued Ipc Active", "inst/cycle"},
    {"sm__inst_issued.avg.pct_of_peak_sustained_active", "Issue Slots Busy", "%"},
    {"dram__bytes_read.sum", "", "byte"},
    {"dram__bytes_write.sum", "", "byte"},
}};

// Numbers of the two specifications and the context that all events refer to.
constexpr uint64_t kQueueNumber = 1;
constexpr uint64_t kStageNumber = 2;
constexpr uint64_t kContextNumber = 1;

// ncu has more than a thousand values per kernel. Only profile.json contains device facts, equal
// for every kernel; minima and maxima over the GPU's units; the peaks that percentages refer to;
// and sums if the mean over the units says the same.
bool is_argument(std::string_view metric) {
  if (metric.starts_with("device__attribute_")) return false;
  for (const std::string_view left_out :
       {".min", ".max", ".peak_sustained", ".sum.pct", ".sum.per_cycle"}) {
    if (contains(metric, left_out)) return false;
  }
  return true;
}

void write_extent(const trace::Extent& extent, ProtoWriter& writer) {
  for (uint32_t i = 0; i < extent.size(); ++i) writer.number(i + 1, extent[i]);
}

std::vector<uint32_t> units_of(std::string_view unit) {
  using namespace fields;
  if (unit == "%") return {percent};
  if (unit == "ns") return {nanosecond};
  if (unit == "byte") return {byte};
  if (unit == "hz") return {hertz};
  return {};
}

class MeasuredKernels {
 public:
  MeasuredKernels(const ExportSource& source, MeasuredNumbers& numbers, TraceFile& file)
      : trace_(source.trace), results_(source.results), numbers_(numbers), file_(file) {}

  // Counters belong to the whole GPU: of overlapping launches, only one can have them.
  std::vector<uint32_t> representatives(trace::DeviceId device) const {
    const trace::KernelTable& kernels = trace_.kernels;
    const auto& measured = results_.ranking.measured_kernels;
    const analysis::Stages& stages = results_.stages;
    std::vector<uint32_t> chosen;
    std::set<std::pair<uint32_t, uint32_t>> known;  // row of the ranking, shape
    Nanoseconds free_from = INT64_MIN;
    for (uint32_t i = 0; i < measured.size(); ++i) {
      if (!measured[i] || kernels.start[i] < free_from) continue;
      if (trace_.queues[kernels.queue[i]].device != device) continue;
      const bool owned =
          i < stages.owners.kernel_instance.size() && stages.owners.kernel_instance[i].valid();
      if (!stages.instances.empty() &&
          (!owned || stages.instances[stages.owners.kernel_instance[i].index()].warmup)) {
        continue;
      }
      const uint32_t row = results_.ranking.row_of(i);
      if (row == analysis::KernelRanking::kNoRow || kernels.end[i] <= kernels.start[i]) continue;
      if (!known.emplace(row, kernels.shape[i].value).second) continue;
      chosen.push_back(i);
      free_from = kernels.end[i];
    }
    return chosen;
  }

  void write(trace::DeviceId device) {
    const std::vector<uint32_t> kernels = representatives(device);
    if (kernels.empty()) return;
    const uint32_t gpu = numbers_.first_gpu + trace_.devices[device.index()].ordinal;
    Sequence sequence = file_.sequence();
    const trace::ProcessId process = trace_.queues[trace_.kernels.queue[kernels.front()]].process;
    const Nanoseconds begin = trace_.kernels.start[kernels.front()];
    sequence.write(begin, [&](ProtoWriter& packet) {
      packet.message(fields::Packet::interned_data, [&] {
        packet.message(fields::InternedData::graphics_contexts, [&] {
          packet.number(fields::GpuContext::id, kContextNumber);
          if (process.valid()) {
            packet.number(fields::GpuContext::pid, trace_.processes[process.index()].pid);
          }
          packet.number(fields::GpuContext::api, fields::cuda);
        });
        const auto specify = [&](uint64_t number, std::string_view name, std::string_view about) {
          packet.message(fields::InternedData::gpu_specifications, [&] {
            packet.number(fields::GpuSpecification::id, number);
            packet.bytes(fields::GpuSpecification::name, name);
            packet.bytes(fields::GpuSpecification::description, about);
            packet.number(fields::GpuSpecification::category, fields::compute);
          });
        };
        specify(kQueueNumber, "Kernels measured by ncu",
                "The first launch of each kernel and shape that ncu measured; values are means "
                "over the launches that ncu measured");
        specify(kStageNumber, "kernel", "Measured by ncu in a run of its own");
      });
      packet.message(fields::Packet::gpu_counter_event, [&] {
        packet.message(fields::GpuCounters::descriptor, [&] { describe_counters(packet); });
        packet.number(fields::GpuCounters::gpu, gpu);
      });
    });
    for (const uint32_t kernel : kernels) write_kernel(kernel, gpu, sequence);
    numbers_.first_counter += static_cast<uint32_t>(compute_metrics().size());
  }

  void describe_counters(ProtoWriter& counters) const {
    uint32_t id = numbers_.first_counter;
    for (const ComputeMetric& metric : compute_metrics()) {
      counters.message(fields::GpuDescriptor::specifications, [&] {
        counters.number(fields::GpuCounterSpecification::id, id++);
        counters.bytes(fields::GpuCounterSpecification::name, metric.name);
        for (const uint32_t unit : units_of(metric.unit)) {
          counters.number(fields::GpuCounterSpecification::numerator, unit);
        }
        counters.number(fields::GpuCounterSpecification::groups, fields::compute_group);
      });
    }
  }

  // A value applies to the time since the previous one: 0 at the kernel's start, the kernel's value
  // at its end.
  void write_counters(const analysis::KernelRow& row, uint32_t gpu, bool of_kernel,
                      ProtoWriter& packet) const {
    packet.message(fields::Packet::gpu_counter_event, [&] {
      uint32_t id = numbers_.first_counter;
      for (const ComputeMetric& metric : compute_metrics()) {
        const uint32_t counter = id++;
        const auto value = find_metric(row.metrics, metric);
        if (!value) continue;
        packet.message(fields::GpuCounters::values, [&] {
          packet.number(fields::GpuCounterValue::id, counter);
          packet.real(fields::GpuCounterValue::real, of_kernel ? *value : 0);
        });
      }
      packet.number(fields::GpuCounters::gpu, gpu);
    });
  }

  void write_arguments(uint32_t kernel, ProtoWriter& launch) const {
    const auto add = [&](std::string_view name, const auto& write_value) {
      launch.message(fields::GpuLaunch::arguments, [&] {
        launch.bytes(fields::GpuArgument::name, name);
        write_value();
      });
    };
    const auto whole = [&](std::string_view name, uint64_t value) {
      add(name, [&] { launch.number(fields::GpuArgument::whole, value); });
    };
    const auto text = [&](std::string_view name, std::string_view value) {
      add(name, [&] { launch.bytes(fields::GpuArgument::text, to_printable(value)); });
    };
    const analysis::KernelRow& row = results_.ranking.rows[results_.ranking.row_of(kernel)];
    const trace::LaunchShape& shape = trace_.shapes[trace_.kernels.shape[kernel]];
    const auto product = [](const trace::Extent& extent) {
      return static_cast<uint64_t>(extent[0]) * extent[1] * extent[2];
    };
    text("kernel_demangled_name", trace_.strings[row.name]);
    text("class", to_string(row.description.kernel_class));
    whole("launch__grid_size", product(shape.grid));
    whole("launch__block_size", product(shape.block));
    whole("launch__registers_per_thread", shape.registers_per_thread);
    whole("launch__shared_mem_per_block_static", shape.static_shared_bytes);
    whole("launch__shared_mem_per_block_dynamic", shape.dynamic_shared_bytes);
    for (const auto& [name, metric] : row.metrics) {
      if (metric.count == 0 || !is_argument(name)) continue;
      add("ncu." + to_printable(name),
          [&] { launch.real(fields::GpuArgument::real, metric.mean); });
    }
  }

  void write_kernel(uint32_t kernel, uint32_t gpu, Sequence& sequence) {
    const Nanoseconds start = trace_.kernels.start[kernel];
    const Nanoseconds end = trace_.kernels.end[kernel];
    const analysis::KernelRow& row = results_.ranking.rows[results_.ranking.row_of(kernel)];
    const trace::LaunchShape& shape = trace_.shapes[trace_.kernels.shape[kernel]];
    sequence.write(start, [&](ProtoWriter& packet) { write_counters(row, gpu, false, packet); });
    sequence.write(start, [&](ProtoWriter& packet) {
      packet.message(fields::Packet::gpu_render_stage_event, [&] {
        packet.number(fields::GpuStage::event, ++numbers_.last_event);
        packet.number(fields::GpuStage::duration, static_cast<uint64_t>(end - start));
        packet.number(fields::GpuStage::context, kContextNumber);
        packet.number(fields::GpuStage::gpu, gpu);
        packet.number(fields::GpuStage::queue, kQueueNumber);
        packet.number(fields::GpuStage::stage, kStageNumber);
        packet.bytes(fields::GpuStage::name, row.description.short_name);
        packet.message(fields::GpuStage::launch, [&] {
          packet.message(fields::GpuLaunch::grid, [&] { write_extent(shape.grid, packet); });
          packet.message(fields::GpuLaunch::workgroup, [&] { write_extent(shape.block, packet); });
          write_arguments(kernel, packet);
        });
      });
    });
    sequence.write(end, [&](ProtoWriter& packet) { write_counters(row, gpu, true, packet); });
  }

 private:
  const trace::Trace& trace_;
  const analysis::Results& results_;
  MeasuredNumbers& numbers_;
  TraceFile& file_;
};

}  // namespace

std::span<const ComputeMetric> compute_metrics() { return kComputeMetrics; }

std::optional<double> find_metric(const std::map<std::string, profile::Metric>& metrics,
                                  const ComputeMetric& wanted) {
  const analysis::MetricLookup lookup(metrics);
  if (const auto value = lookup.mean(wanted.name, wanted.unit)) return value;
  if (wanted.label.empty()) return std::nullopt;
  return lookup.mean(wanted.label, wanted.unit);
}

void write_measured_kernels(const ExportSource& source, trace::DeviceId device,
                            MeasuredNumbers& numbers, TraceFile& file) {
  MeasuredKernels(source, numbers, file).write(device);
}

}  // namespace llmprof::exports
