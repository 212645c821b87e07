#include <limits>

#include "report/json/json_sections.h"
#include "report/sections/sections.h"

namespace llmprof::report {

Json selection_json(const analysis::Profile& profile) {
  const analysis::Selection& selection = profile.selection;
  if (selection.everything()) return nullptr;
  Json steps = nullptr;
  if (selection.steps) {
    const bool open = selection.steps->second == std::numeric_limits<uint32_t>::max();
    steps = {{"first", selection.steps->first},
             {"last", open ? Json(nullptr) : Json(selection.steps->second - 1)}};
  }
  return {{"stage", value_or_null(selection.stage)},
          {"steps", std::move(steps)},
          {"device", value_or_null(selection.device)},
          {"words", selection_words(profile)}};
}

namespace {

Json cpu_json(const analysis::Profile& profile, trace::DeviceId id) {
  const trace::Trace& trace = *profile.trace;
  Json json = {{"device", analysis::device_label(trace, id)},
               {"name", text_or_null(trace.devices[id.index()].name)},
               {"threads", nullptr},
               {"peak_flops_per_s", nullptr},
               {"peak_bytes_per_s", nullptr},
               {"number_format", nullptr},
               {"method", nullptr}};
  if (!trace.workload || !trace.workload->device || trace.workload->device->kind != "cpu") {
    return json;
  }
  const trace::WorkloadMetrics::Device& told = *trace.workload->device;
  json["threads"] = value_or_null(told.threads);
  json["peak_flops_per_s"] = value_or_null(told.peak_flops_per_s);
  json["peak_bytes_per_s"] = value_or_null(told.peak_bytes_per_s);
  json["number_format"] = text_or_null(told.number_format);
  json["method"] = text_or_null(told.method);
  return json;
}

}  // namespace

Json context_json(const analysis::Profile& profile) {
  const trace::Trace& trace = *profile.trace;
  Json captures = Json::array();
  for (const trace::Capture& capture : trace.captures) {
    captures.push_back({{"path", to_printable(capture.path)},
                        {"format", capture.format},
                        {"tool", text_or_null(capture.tool)},
                        {"tool_version", text_or_null(capture.tool_version)},
                        {"schema_version", text_or_null(capture.schema_version)},
                        {"driver", text_or_null(capture.driver_version)},
                        {"cuda", text_or_null(capture.cuda_version)},
                        {"rank", value_or_null(capture.rank)},
                        {"wall_clock_ns", value_or_null(capture.wall_clock_ns)}});
  }
  Json gpus = Json::array();
  Json cpus = Json::array();
  for (size_t i = 0; i < trace.devices.size(); ++i) {
    const trace::Device& device = trace.devices[i];
    if (device.kind == trace::DeviceKind::cpu) {
      cpus.push_back(cpu_json(profile, trace::DeviceId(i)));
      continue;
    }
    gpus.push_back({{"device", analysis::device_label(trace, trace::DeviceId(i))},
                    {"name", text_or_null(device.name)},
                    {"uuid", text_or_null(device.uuid)},
                    {"compute_capability", text_or_null(device.compute_capability)},
                    {"sm_count", number_or_null(device.sm_count)},
                    {"memory_bytes", number_or_null(device.memory_bytes)},
                    {"memory_bandwidth_bytes_per_s", number_or_null(device.memory_bandwidth)},
                    {"clock_hz", number_or_null(device.clock_hz)}});
  }
  return {{"gpus", gpus}, {"cpus", cpus}, {"captures", captures}};
}

Json totals_json(const analysis::Profile& profile) {
  const analysis::Totals& totals = profile.totals;
  Json devices = Json::array();
  for (const analysis::DeviceTotals& device : totals.devices) {
    devices.push_back({{"device", device.device},
                       {"name", text_or_null(device.name)},
                       {"kernel_count", device.kernel_count},
                       {"kernel_sum_ms", milliseconds(device.kernel_sum)},
                       {"gpu_busy_ms", milliseconds(device.busy)},
                       {"span_ms", milliseconds(device.span)}});
  }
  Json json = {{"source", analysis::to_string(profile.ranking.source)},
               {"kernel_count", totals.kernel_count},
               {"kernel_sum_ms", milliseconds(totals.kernel_sum)},
               {"kernel_sum_ns", totals.kernel_sum},
               {"gpu_busy_ms", milliseconds(totals.busy)},
               {"span_ms", milliseconds(totals.span)},
               {"memory_operation_count", totals.memory_operation_count},
               {"memory_operation_sum_ms", milliseconds(totals.memory_operation_sum)},
               {"device_count", totals.devices.size()},
               {"gpu_count", totals.gpu_count},
               {"devices", devices}};
  json["hidden_graphs"] = nullptr;
  if (const auto& hidden = profile.hidden_graphs) {
    json["hidden_graphs"] = {{"replays", hidden->replays},
                             {"total_ms", milliseconds(hidden->time)},
                             {"share_of_gpu_time", hidden->share},
                             {"launched_in", text_or_null(hidden->launched_in)}};
  }
  json["metric_join"] = nullptr;
  if (const auto& join = profile.join) {
    json["metric_join"] = {{"profiled_launches", join->profiled},
                           {"joined", join->joined},
                           {"unjoined", join->profiled - join->joined},
                           {"timeline_kernels_covered", join->timeline_covered}};
  }
  return json;
}

Json diagnostics_json(const analysis::Profile& profile) {
  Json rows = Json::array();
  for (const Diagnostic& item : profile.diagnostics.items()) {
    rows.push_back({{"severity", analysis::to_string(item.severity)},
                    {"code", item.code},
                    {"message", to_printable(item.message)},
                    {"count", item.count}});
  }
  return rows;
}

}  // namespace llmprof::report
