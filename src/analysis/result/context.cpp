#include "analysis/result/parts.h"
#include "analysis/statistics/statistics.h"
#include "llm/cost.h"

namespace llmprof::analysis::result {
namespace {

profile::Cpu cpu(const trace::Trace& trace, trace::DeviceId id) {
  profile::Cpu cpu;
  cpu.device = device_label(trace, id);
  cpu.name = unless_empty(trace.devices[id.index()].name);
  if (!trace.workload || !trace.workload->device || !trace.workload->device->is_cpu()) {
    return cpu;
  }
  const trace::WorkloadMetrics::Device& device = *trace.workload->device;
  cpu.threads = device.threads;
  cpu.peak_flops = quantity<profile::FlopsPerSecond>(device.peak_flops_per_s);
  cpu.peak_bytes = quantity<profile::BytesPerSecond>(device.peak_bytes_per_s);
  cpu.number_format = unless_empty(device.number_format);
  cpu.method = unless_empty(device.method);
  if (!device.peaks_from.empty())
    cpu.peaks_from = profile::read_word<profile::PeaksFrom>(device.peaks_from);
  cpu.peaks_measured_at = unless_empty(device.peaks_measured_at);
  cpu.own_peak_flops = quantity<profile::FlopsPerSecond>(device.own_peak_flops_per_s);
  cpu.own_peak_bytes = quantity<profile::BytesPerSecond>(device.own_peak_bytes_per_s);
  cpu.peaks_note = unless_empty(device.peaks_note);
  return cpu;
}

profile::Gpu gpu(const trace::Trace& trace, trace::DeviceId id) {
  const trace::Device& device = trace.devices[id.index()];
  return {.device = device_label(trace, id),
          .name = unless_empty(device.name),
          .uuid = unless_empty(device.uuid),
          .compute_capability = unless_empty(device.compute_capability),
          .sm_count = unless_zero<uint64_t>(device.sm_count),
          .memory_bytes = unless_zero<uint64_t>(device.memory_bytes),
          .memory_bandwidth = unless_zero<uint64_t>(device.memory_bandwidth),
          .clock = unless_zero<uint64_t>(device.clock_hz)};
}

profile::Capture capture(const trace::Capture& from) {
  return {.path = to_printable(from.path),
          .format = profile::read_word<profile::CaptureFormat>(from.format).value(),
          .tool = unless_empty(from.tool),
          .tool_version = unless_empty(from.tool_version),
          .schema_version = unless_empty(from.schema_version),
          .driver = unless_empty(from.driver_version),
          .cuda = unless_empty(from.cuda_version),
          .rank = from.rank,
          .wall_clock_ns = from.wall_clock_ns};
}

}  // namespace

profile::Context context(const Prepared& in) {
  const trace::Trace& trace = in.trace;
  profile::Context context;
  for (const trace::Capture& from : trace.captures) context.captures.push_back(capture(from));
  for (size_t i = 0; i < trace.devices.size(); ++i) {
    const trace::DeviceId id(i);
    if (trace.devices[i].kind == trace::DeviceKind::cpu) {
      context.cpus.push_back(cpu(trace, id));
    } else {
      context.gpus.push_back(gpu(trace, id));
    }
  }
  if (in.device == trace::DeviceKind::cpu) context.device_kind = profile::DeviceKind::cpu;
  context.load = in.options.run.load;
  return context;
}

std::optional<profile::Model> model(const UseOfPeaks& use) {
  const auto& from = use.model;
  if (!from) return std::nullopt;
  profile::Model model;
  model.name = unless_empty(from->name);
  model.variant = unless_empty(from->variant);
  model.params = llm::parameter_count(*from);
  model.active_params = llm::active_parameter_count(*from);
  model.dtype = from->dtype.name;
  model.weights_dtype = from->weights.name;
  model.kv_cache_dtype = from->kv_cache.name;
  model.layers = from->layers.size();
  model.weight_bytes = {llm::weight_bytes(*from)};
  model.kv_bytes_per_token = {llm::kv_bytes_per_token(*from)};
  model.source = unless_empty(from->source);
  for (const std::string& note : from->notes) model.notes.push_back(to_printable(note));
  return model;
}

profile::Utilization utilization(const UseOfPeaks& use) {
  profile::Utilization utilization;
  utilization.why_not_reasons = use.why_not;
  if (!use.gpu) return utilization;
  const llm::GpuSpec& spec = *use.gpu;
  if (spec.is_measured()) {
    utilization.cpu = {spec.name,
                       {spec.memory_bandwidth},
                       quantity<profile::FlopsPerSecond>(spec.fp32),
                       spec.measured_format,
                       unless_empty(spec.measured_how)};
  } else {
    utilization.gpu = {spec.name, {spec.memory_bandwidth}, {spec.tensor_bf16}};
  }
  return utilization;
}

}  // namespace llmprof::analysis::result
