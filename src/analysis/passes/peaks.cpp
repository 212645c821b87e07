#include "analysis/passes/prepare.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>

#include "base/text.h"

namespace llmprof::analysis {
namespace {

// Fills values that the user did not set from the workload's own record.
Workload complete_workload(Workload workload,
                           const std::optional<trace::WorkloadMetrics>& metrics) {
  if (!metrics) return workload;
  const std::string source = "the workload's metrics.json";
  const auto fill = [&](std::optional<TokenCount>& into, const std::optional<uint64_t>& from) {
    if (!into && from) into = TokenCount{*from, source};
  };
  fill(workload.prompt_tokens, metrics->prompt_tokens);
  fill(workload.new_tokens, metrics->new_tokens);
  fill(workload.batch, metrics->batch);
  if (workload.images == 0) workload.images = metrics->images.value_or(0);
  const llm::Parallelism& told = workload.parallel;
  if (told.tp == 1 && told.pp == 1 && told.ep == 1) {
    const uint64_t ranks = metrics->tensor_parallel.value_or(1);
    workload.parallel.tp = static_cast<uint32_t>(std::clamp<uint64_t>(ranks, 1, UINT32_MAX));
  }
  return workload;
}

uint32_t ranks_of_job(const trace::Trace& trace) {
  uint32_t ranks = 1;
  for (const trace::Capture& capture : trace.captures) {
    ranks = std::max(ranks, capture.world_size.value_or(1));
  }
  return ranks;
}

// The GPU that did most of the work.
const trace::Device* main_device(const trace::Trace& trace) {
  std::vector<Nanoseconds> time(trace.devices.size(), 0);
  for (size_t i = 0; i < trace.kernels.size(); ++i) {
    time[trace.queues[trace.kernels.queue[i]].device.index()] +=
        trace.kernels.end[i] - trace.kernels.start[i];
  }
  const auto longest = std::max_element(time.begin(), time.end());
  return longest == time.end() ? nullptr
                               : &trace.devices[static_cast<size_t>(longest - time.begin())];
}

// The captured GPU's name if it is certainly not the user's GPU; otherwise empty.
std::string contradicting_gpu(const trace::Device* device, const llm::GpuSpec& wanted,
                              const llm::GpuSpecs& gpus) {
  if (device == nullptr) return {};
  const auto captured = gpus.find(device->name, device->sm_count, device->memory_bytes);
  return captured && captured->name != wanted.name ? device->name : "";
}

// A CPU's peaks as measured by the workload; none if it did not measure them.
std::optional<llm::GpuSpec> measured_cpu_of(const std::optional<trace::WorkloadMetrics>& metrics) {
  if (!metrics || !metrics->device) return std::nullopt;
  const trace::WorkloadMetrics::Device& device = *metrics->device;
  if (device.kind != "cpu" || !device.peak_flops_per_s || !device.peak_bytes_per_s) {
    return std::nullopt;
  }
  std::string name = device.name.empty() ? "CPU" : device.name;
  if (device.threads) {
    name += ", " + counted(*device.threads, "thread");
  }
  return llm::measured_cpu(name + ", measured", *device.peak_flops_per_s, *device.peak_bytes_per_s,
                           device.number_format, device.method);
}

}  // namespace

Utilization measure_utilization(const Prepared& prepared, const Stages& stages) {
  const trace::Trace& trace = prepared.trace;
  const AnalysisOptions& options = prepared.options;
  const llm::GpuSpecs& gpus = prepared.rules.gpus;
  const trace::Device* device = main_device(trace);
  DeviceAsked asked;
  asked.kind = prepared.device;
  asked.wanted = options.gpu.value_or(device == nullptr ? "" : device->name);
  auto spec = options.gpu || device == nullptr
                  ? gpus.find(asked.wanted)
                  : gpus.find(asked.wanted, device->sm_count, device->memory_bytes);
  if (prepared.device == trace::DeviceKind::cpu && !options.gpu) {
    spec = measured_cpu_of(trace.workload);
  }
  if (options.gpu && spec) asked.captured = contradicting_gpu(device, *spec, gpus);
  Workload workload = complete_workload(options.workload, trace.workload);
  workload.ranks = ranks_of_job(trace);
  return utilization(stages, options.model, spec, workload, asked,
                     recorded_work(trace, stages, prepared.names));
}

}  // namespace llmprof::analysis
