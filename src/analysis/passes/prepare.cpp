#include "analysis/passes/prepare.h"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "analysis/detection/detected_stages.h"
#include "analysis/operators/graph_captures.h"
#include "analysis/ranking/same_work.h"
#include "analysis/stages/annotated_stages.h"
#include "analysis/stages/selection.h"
#include "analysis/statistics/statistics.h"
#include "base/text.h"

namespace llmprof::analysis {

namespace {

// ": " and the words of the reasons, if there are any.
std::string because(const AnalysisOptions& options, const profile::Reasons& reasons) {
  if (options.reason_words == nullptr) return {};
  const auto words = options.reason_words(reasons);
  return words ? ": " + *words : std::string();
}

}  // namespace

Stages find_stages(const Prepared& in, const MeaningfulRanges* ranges, Diagnostics& diagnostics) {
  const trace::Trace& trace = in.trace;
  if (ranges != nullptr) {
    const auto add_steps = [&](Stages& stages) {
      add_detected_steps(trace, in.names, stages, diagnostics);
    };
    if (auto annotated = annotated_stages(trace, *ranges, diagnostics, add_steps)) {
      return *annotated;
    }
  }
  if (trace.kernels.size() == 0) {
    Stages none;
    none.reason = {profile::make_reason(profile::ReasonKind::no_timeline)};
    return none;
  }
  Stages detected = detected_stages(trace, in.names, diagnostics, ranges);
  if (detected.stages.empty()) {
    diagnostics.info("stages_not_found",
                     "no prefill or decode was found" + because(in.options, detected.reason));
  }
  return detected;
}

namespace {

// By queue: whether it is a CPU's.
std::vector<bool> cpu_queues(const trace::Trace& trace) {
  std::vector<bool> cpu;
  cpu.reserve(trace.queues.size());
  for (const trace::Queue& queue : trace.queues.values()) {
    cpu.push_back(queue.device.valid() &&
                  trace.devices[queue.device.index()].kind == trace::DeviceKind::cpu);
  }
  return cpu;
}

// The device that all kernels ran on: a CPU if all are a program's own operators, otherwise a GPU.
trace::DeviceKind device_kind(const trace::Trace& trace) {
  const std::vector<bool> cpu = cpu_queues(trace);
  const auto& queues = trace.kernels.queue;
  if (std::ranges::find(cpu, true) == cpu.end() || queues.empty()) {
    return trace::DeviceKind::gpu;
  }
  const bool only_cpu =
      std::ranges::all_of(queues, [&](trace::QueueId queue) { return cpu[queue.index()]; });
  return only_cpu ? trace::DeviceKind::cpu : trace::DeviceKind::gpu;
}

// CPU operators recorded together with GPU kernels stay operators: the sum of both would be
// meaningless. Removes them from the kernels and reports it.
void leave_cpu_operators_aside(trace::Trace& trace, Diagnostics& diagnostics) {
  const std::vector<bool> cpu = cpu_queues(trace);
  if (std::ranges::find(cpu, true) == cpu.end()) return;
  trace::KernelTable& kernels = trace.kernels;
  std::vector<bool> keep;
  keep.reserve(kernels.queue.size());
  for (const trace::QueueId queue : kernels.queue) keep.push_back(!cpu[queue.index()]);
  const auto operators = static_cast<size_t>(std::ranges::count(keep, false));
  const bool gpu_work = operators < kernels.size() || trace.graph_replays.size() > 0 ||
                        trace.memory_operations.size() > 0;
  if (operators == 0 || !gpu_work) return;
  keep_rows(kernels, keep);
  diagnostics.info("cpu_operators_left_aside",
                   "CPU operators recorded with a GPU's kernels: they are listed as operators and "
                   "excluded from kernel totals",
                   operators);
}

// A log does not record which CPU it ran on; the workload does.
void name_cpu(trace::Trace& trace) {
  if (!trace.workload || !trace.workload->device || !trace.workload->device->is_cpu()) return;
  for (trace::Device& device : trace.devices) {
    if (device.kind == trace::DeviceKind::cpu && device.name.empty()) {
      device.name = trace.workload->device->name;
    }
  }
}

// Fills values that the user did not set from the workload's own record.
profile::Workload complete_workload(profile::Workload workload,
                                    const std::optional<trace::WorkloadMetrics>& metrics) {
  if (!metrics) return workload;
  const auto fill = [](std::optional<uint64_t>& into, std::optional<std::string>& source,
                       const std::optional<uint64_t>& from) {
    if (into || !from) return;
    into = from;
    source = "the workload's metrics.json";
  };
  fill(workload.prompt_tokens, workload.prompt_tokens_source, metrics->prompt_tokens);
  fill(workload.new_tokens, workload.new_tokens_source, metrics->new_tokens);
  fill(workload.batch, workload.batch_source, metrics->batch);
  if (!workload.images) workload.images = unless_zero(metrics->images.value_or(0));
  if (workload.tp == 1 && workload.pp == 1 && workload.ep == 1) {
    workload.tp = std::clamp<uint64_t>(metrics->tensor_parallel.value_or(1), 1, UINT32_MAX);
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
  const auto longest = std::ranges::max_element(time);
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
  if (!device.is_cpu() || !device.peak_flops_per_s || !device.peak_bytes_per_s) {
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

Prepared::Prepared(const trace::Trace& of, const AnalysisRules& with, const AnalysisOptions& asked)
    : trace(of), rules(with), options(asked), names(of, with.kernels), device(device_kind(of)) {}

std::optional<MeaningfulRanges> find_annotations(const Prepared& in) {
  if (!in.options.use_annotations) return std::nullopt;
  return MeaningfulRanges(in.trace, in.rules.stages);
}

Result<Prepared> prepare(trace::Trace& trace, const AnalysisRules& rules,
                         const AnalysisOptions& options) {
  const profile::Selection& selection = options.selection;
  if (selection.device) {
    auto kept = keep_device(trace, static_cast<uint32_t>(*selection.device));
    if (!kept) return fail_with(kept.error());
  }
  Diagnostics diagnostics = trace.diagnostics;
  use_graph_captures(trace, diagnostics);
  drop_repeated_timelines(trace, diagnostics);
  merge_profiled_twice(trace, diagnostics);
  leave_cpu_operators_aside(trace, diagnostics);
  name_cpu(trace);
  // Kernels are joined to their launches by now. Freed because there are millions.
  std::vector<uint32_t>().swap(trace.launches.correlation);
  Prepared prepared(trace, rules, options);
  prepared.diagnostics = std::move(diagnostics);
  if (!selection.stage && !selection.steps) return prepared;
  NarrowedStages narrowed;
  const auto annotations = find_annotations(prepared);
  narrowed.stages =
      find_stages(prepared, annotations ? &*annotations : nullptr, prepared.diagnostics);
  narrowed.collector_overhead = collector_overhead(trace, narrowed.stages);
  const std::string why_none = because(options, narrowed.stages.reason);
  if (auto kept = keep_selected(trace, narrowed.stages, selection, why_none); !kept) {
    return fail_with(kept.error());
  }
  prepared.narrowed = std::move(narrowed);
  return prepared;
}

UseOfPeaks measure_utilization(const Prepared& prepared, const Stages& stages) {
  const trace::Trace& trace = prepared.trace;
  const AnalysisOptions& options = prepared.options;
  const llm::GpuSpecs& gpus = prepared.rules.gpus;
  const trace::Device* device = main_device(trace);
  RequestedDevice asked;
  asked.kind = prepared.device;
  asked.wanted = options.gpu.value_or(device == nullptr ? "" : device->name);
  auto spec = options.gpu || device == nullptr
                  ? gpus.find(asked.wanted)
                  : gpus.find(asked.wanted, device->sm_count, device->memory_bytes);
  if (prepared.device == trace::DeviceKind::cpu && !options.gpu) {
    spec = measured_cpu_of(trace.workload);
  }
  if (options.gpu && spec) asked.captured = contradicting_gpu(device, *spec, gpus);
  asked.ranks = ranks_of_job(trace);
  return utilization(stages, options.model, spec,
                     complete_workload(options.workload, trace.workload), asked,
                     recorded_work(trace, stages, prepared.names));
}

}  // namespace llmprof::analysis
