#include "analysis/profile.h"

#include <fmt/format.h>

#include <algorithm>
#include <future>

#include "analysis/collection/stage_tracing.h"
#include "analysis/detection/detected_stages.h"
#include "analysis/ranking/profiled_twice.h"
#include "analysis/ranking/repeated_timelines.h"
#include "analysis/ranking/same_gpu.h"
#include "analysis/stages/annotated_stages.h"

namespace llmprof::analysis {
namespace {

// Several descriptions of the same work must not be added up; what was left aside is said.
void report_sources(const trace::Trace& trace, const KernelRanking& ranking,
                    Diagnostics& diagnostics) {
  if (ranking.source == KernelSource::timeline && !trace.kernel_summaries.empty()) {
    diagnostics.info("summary_left_aside",
                     "kernel summary rows are not added to the timeline's kernels, which they "
                     "describe a second time",
                     trace.kernel_summaries.size());
  }
  size_t timelines = 0;
  for (size_t c = 0; c < trace.captures.size(); ++c) {
    for (const trace::Queue& queue : trace.queues.values()) {
      if (queue.device.valid() &&
          trace.devices[queue.device.index()].capture == trace::CaptureId(c)) {
        ++timelines;
        break;
      }
    }
  }
  const size_t runs = runs_on_one_gpu(trace);
  if (runs > 1) {
    diagnostics.warn("runs_mixed",
                     fmt::format("{} timelines of different runs on one {} are analysed together; "
                                 "figures mix them: give one timeline, or compare them with "
                                 "separate calls",
                                 runs, device_words(device_kind(trace)).device));
  }
  if (timelines > 1) {
    diagnostics.info("several_timelines",
                     fmt::format("{} timelines are put together, each on its own clock; their "
                                 "devices are told apart by file",
                                 timelines));
  }
}

// The workload's own record fills what the user did not say.
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
  return workload;
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

// The captured GPU's name where it is certainly another one than the user's; empty otherwise.
std::string contradicting_gpu(const trace::Device* device, const llm::GpuSpec& wanted,
                              const llm::GpuSpecs& gpus) {
  if (device == nullptr) return {};
  const auto captured = gpus.find(device->name, device->sm_count, device->memory_bytes);
  return captured && captured->name != wanted.name ? device->name : "";
}

// `ranges` is null where annotations are not to be used.
Stages find_stages(const trace::Trace& trace, const MeaningfulRanges* ranges,
                   const DescribedNames& names, Diagnostics& diagnostics) {
  if (ranges != nullptr) {
    if (auto annotated = annotated_stages(trace, *ranges, diagnostics)) return *annotated;
  }
  if (trace.kernels.size() == 0) {
    Stages none;
    none.reason = "stages need a timeline: capture one with nsys or with PyTorch's profiler";
    return none;
  }
  Stages detected = detected_stages(trace, names, diagnostics);
  if (detected.stages.empty()) {
    diagnostics.info("stages_not_found", "no prefill or decode was found: " + detected.reason);
  }
  return detected;
}

void sum_up(const trace::Trace& trace, Profile& profile) {
  profile.totals = total_up(trace, profile.ranking);
  profile.hidden_graphs = find_hidden_graphs(trace, profile.totals);
  if (profile.hidden_graphs) {
    profile.diagnostics.warn("graph_kernels_missing", profile.hidden_graphs->message);
  }
  if (trace.profiled_launches.size() > 0) {
    profile.join = join_metrics(trace, profile.ranking);
    if (profile.join->joined < profile.join->profiled) {
      profile.diagnostics.warn("profiled_launches_unjoined",
                               "profiled launches whose kernel, grid, block and range are not in "
                               "the timeline; their metrics are left out",
                               profile.join->profiled - profile.join->joined);
    }
  }
  report_sources(trace, profile.ranking, profile.diagnostics);
}

// A CPU's peaks as the workload measured them; none where it did not.
std::optional<llm::GpuSpec> measured_cpu_of(const std::optional<trace::WorkloadMetrics>& metrics) {
  if (!metrics || !metrics->device) return std::nullopt;
  const trace::WorkloadMetrics::Device& device = *metrics->device;
  if (device.kind != "cpu" || !device.peak_flops_per_s || !device.peak_bytes_per_s) {
    return std::nullopt;
  }
  std::string name = device.name.empty() ? "CPU" : device.name;
  if (device.threads) {
    name += fmt::format(", {} thread{}", *device.threads, *device.threads == 1 ? "" : "s");
  }
  return llm::measured_cpu(name + ", measured", *device.peak_flops_per_s, *device.peak_bytes_per_s,
                           device.number_format, device.method);
}

// A log does not know what CPU it was recorded on; the workload does.
void name_cpu(trace::Trace& trace) {
  if (!trace.workload || !trace.workload->device || trace.workload->device->kind != "cpu") return;
  for (trace::Device& device : trace.devices) {
    if (device.kind == trace::DeviceKind::cpu && device.name.empty()) {
      device.name = trace.workload->device->name;
    }
  }
}

void judge(const trace::Trace& trace, const AnalysisRules& rules, const AnalysisOptions& options,
           const DescribedNames& names, Profile& profile) {
  const trace::Device* device = main_device(trace);
  DeviceAsked asked;
  asked.kind = profile.device;
  asked.wanted = options.gpu.value_or(device == nullptr ? "" : device->name);
  auto spec = options.gpu || device == nullptr
                  ? rules.gpus.find(asked.wanted)
                  : rules.gpus.find(asked.wanted, device->sm_count, device->memory_bytes);
  const bool on_cpu = profile.device == trace::DeviceKind::cpu;
  if (on_cpu && !options.gpu) spec = measured_cpu_of(trace.workload);
  if (options.gpu && spec) asked.captured = contradicting_gpu(device, *spec, rules.gpus);
  profile.utilization = utilization(profile.stages, options.model, spec,
                                    complete_workload(options.workload, trace.workload), asked,
                                    recorded_work(trace, profile.stages, names));
  for (const InputWarning& warning : profile.utilization.warnings) {
    profile.diagnostics.warn(warning.code, warning.message);
  }
  profile.counters = attribute_counters(trace, profile.stages, profile.utilization);
  profile.roofline = on_cpu ? operator_roofline(profile.ranking, spec ? &*spec : nullptr)
                            : kernel_roofline(profile.ranking);
  profile.recoverable = recoverable_time(profile.stages, profile.budgets, profile.utilization);
  profile.kernel_recoverable =
      kernel_recoverable(profile.ranking, profile.opened, profile.budgets, profile.recoverable,
                         profile.roofline, spec ? &*spec : nullptr);
  profile.findings = find_findings(trace, profile.stages, profile.budgets, profile.recoverable,
                                   profile.utilization, profile.ranking, profile.roofline,
                                   profile.selection, profile.counters);
}

}  // namespace

Result<Profile> analyse(trace::Trace& trace, const AnalysisRules& rules,
                        const AnalysisOptions& options) {
  Profile profile;
  profile.trace = &trace;
  profile.selection = options.selection;
  if (options.selection.device) {
    if (auto kept = keep_device(trace, *options.selection.device); !kept) {
      return fail_with(kept.error());
    }
  }
  profile.diagnostics = trace.diagnostics;
  drop_repeated_timelines(trace, profile.diagnostics);
  merge_profiled_twice(trace, profile.diagnostics);
  leave_cpu_operators_aside(trace, profile.diagnostics);
  name_cpu(trace);
  profile.device = device_kind(trace);
  const DescribedNames names(trace, rules.kernels);
  std::optional<MeaningfulRanges> annotations;
  if (options.use_annotations) annotations.emplace(trace, rules.stages);
  const MeaningfulRanges* ranges = annotations ? &*annotations : nullptr;
  // What needs no stages is found beside them, unless these decide which work is left out.
  // Where no thread can be had it is found when it is needed.
  constexpr auto kBeside = std::launch::async | std::launch::deferred;
  const auto beside = options.selection.everything() ? kBeside : std::launch::deferred;
  auto basis = std::async(beside, [&] { return BudgetBasis(trace); });
  auto ranking = std::async(beside, [&] { return rank_kernels(trace, names); });
  profile.stages = find_stages(trace, ranges, names, profile.diagnostics);
  profile.collector_overhead = collector_overhead(trace, profile.stages);
  if (auto kept = keep_selected(trace, profile.stages, options.selection); !kept) {
    return fail_with(kept.error());
  }
  report_untraced(profile.stages, profile.diagnostics);
  // The budgets take about as long as all that is done beside them.
  auto budgets =
      std::async(kBeside, [&] { return time_budgets(trace, profile.stages, names, basis.get()); });
  profile.layers = find_layers(trace, profile.stages, ranges, names);
  annotations.reset();
  profile.ranking = ranking.get();
  sum_up(trace, profile);
  profile.opened = open_kernels(trace, profile.ranking, profile.stages);
  profile.operators = find_operators(options.operators_of ? *options.operators_of : trace);
  profile.budgets = budgets.get();
  judge(trace, rules, options, names, profile);
  return profile;
}

}  // namespace llmprof::analysis
