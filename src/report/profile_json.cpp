#include "report/profile_json.h"

#include <nlohmann/json.hpp>

#include "base/text.h"
#include "report/kernel_report.h"

namespace llmprof {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kSchemaVersion = 1;
constexpr size_t kTopKernels = 20;

Json milliseconds(Nanoseconds time) { return static_cast<double>(time) / 1e6; }

Json milliseconds(const std::optional<Nanoseconds>& time) {
  return time ? milliseconds(*time) : Json(nullptr);
}

Json text_or_null(const std::string& text) { return text.empty() ? Json(nullptr) : Json(text); }

template <class Number>
Json number_or_null(Number number) {
  return number == 0 ? Json(nullptr) : Json(number);
}

Json context(const Profile& profile) {
  const Trace& trace = *profile.trace;
  Json captures = Json::array();
  for (const Capture& capture : trace.captures) {
    captures.push_back(
        {{"path", to_printable(capture.path)},
         {"format", capture.format},
         {"tool", text_or_null(capture.tool)},
         {"tool_version", text_or_null(capture.tool_version)},
         {"schema_version", text_or_null(capture.schema_version)},
         {"driver", text_or_null(capture.driver_version)},
         {"cuda", text_or_null(capture.cuda_version)},
         {"wall_clock_ns", capture.wall_clock_ns ? Json(*capture.wall_clock_ns) : Json(nullptr)}});
  }
  Json gpus = Json::array();
  for (size_t i = 0; i < trace.devices.size(); ++i) {
    const Device& device = trace.devices[i];
    gpus.push_back({{"device", device_label(trace, DeviceId(i))},
                    {"name", text_or_null(device.name)},
                    {"uuid", text_or_null(device.uuid)},
                    {"compute_capability", text_or_null(device.compute_capability)},
                    {"sm_count", number_or_null(device.sm_count)},
                    {"memory_bytes", number_or_null(device.memory_bytes)},
                    {"memory_bandwidth_bytes_per_s", number_or_null(device.memory_bandwidth)},
                    {"clock_hz", number_or_null(device.clock_hz)}});
  }
  return {{"gpus", gpus}, {"captures", captures}};
}

Json totals(const Profile& profile) {
  const Totals& totals = profile.totals;
  Json devices = Json::array();
  for (const DeviceTotals& device : totals.devices) {
    devices.push_back({{"device", device.device},
                       {"name", text_or_null(device.name)},
                       {"kernel_count", device.kernel_count},
                       {"kernel_sum_ms", milliseconds(device.kernel_sum)},
                       {"gpu_busy_ms", milliseconds(device.busy)},
                       {"span_ms", milliseconds(device.span)}});
  }
  Json json = {{"source", to_string(profile.ranking.source)},
               {"kernel_count", totals.kernel_count},
               {"kernel_sum_ms", milliseconds(totals.kernel_sum)},
               {"kernel_sum_ns", totals.kernel_sum},
               {"gpu_busy_ms", milliseconds(totals.busy)},
               {"span_ms", milliseconds(totals.span)},
               {"memory_operation_count", totals.memory_operation_count},
               {"memory_operation_sum_ms", milliseconds(totals.memory_operation_sum)},
               {"devices", devices}};
  json["hidden_graphs"] = nullptr;
  if (const auto& hidden = profile.hidden_graphs) {
    json["hidden_graphs"] = {{"replays", hidden->replays},
                             {"total_ms", milliseconds(hidden->time)},
                             {"share_of_gpu_time", hidden->share},
                             {"launched_in", text_or_null(to_printable(hidden->launched_in))}};
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

Json metrics(const KernelRow& row) {
  // Names are distinct; looking each one up among a thousand others would take most of the time.
  Json::object_t json;
  json.reserve(row.metrics.size());
  for (const auto& [name, metric] : row.metrics) {
    Json::object_t values;
    values.reserve(5);
    values.emplace_back("mean", metric.mean);
    values.emplace_back("min", metric.min);
    values.emplace_back("max", metric.max);
    values.emplace_back("count", metric.count);
    values.emplace_back("unit", text_or_null(to_printable(metric.unit)));
    json.emplace_back(to_printable(name), std::move(values));
  }
  return json;
}

Json kernels(const Profile& profile) {
  Json rows = Json::array();
  for (const KernelRow& row : profile.ranking.rows) {
    Json json = {{"kernel_name", to_printable(profile.trace->strings[row.name])},
                 {"short_name", row.description.short_name},
                 {"class", to_string(row.description.kernel_class)},
                 {"library", text_or_null(std::string(row.description.library))},
                 {"device", row.device},
                 {"total_ms", milliseconds(row.total)},
                 {"total_ns", row.total},
                 {"calls", row.calls},
                 {"mean_ms", row.mean_ns() / 1e6},
                 {"min_ms", milliseconds(row.min)},
                 {"p50_ms", milliseconds(row.p50)},
                 {"p99_ms", milliseconds(row.p99)},
                 {"max_ms", milliseconds(row.max)},
                 {"share", row.share},
                 {"metrics", metrics(row)}};
    rows.push_back(std::move(json));
  }
  return rows;
}

Json classes(const Profile& profile) {
  Json rows = Json::array();
  for (const ClassRow& row : profile.ranking.classes) {
    rows.push_back({{"class", to_string(row.kernel_class)},
                    {"total_ms", milliseconds(row.total)},
                    {"calls", row.calls},
                    {"share", row.share}});
  }
  return rows;
}

Json top_kernels(const Profile& profile) {
  Json rows = Json::array();
  for (const KernelRecord& record : top_n_kernels(kernel_records(profile), kTopKernels)) {
    rows.push_back({{"kernel_name", to_printable(record.kernel_name)},
                    {"device", record.device},
                    {"total_ms", record.total_ms},
                    {"calls", record.calls},
                    {"mean_ms", record.mean_ms}});
  }
  return rows;
}

Json diagnostics(const Profile& profile) {
  Json rows = Json::array();
  for (const Diagnostic& item : profile.diagnostics.items()) {
    rows.push_back({{"severity", to_string(item.severity)},
                    {"code", item.code},
                    {"message", to_printable(item.message)},
                    {"count", item.count}});
  }
  return rows;
}

}  // namespace

std::string to_profile_json(const Profile& profile, std::string_view tool_version) {
  const Json json = {{"schema_version", kSchemaVersion},
                     {"tool", {{"name", "llmprof"}, {"version", tool_version}}},
                     {"context", context(profile)},
                     {"totals", totals(profile)},
                     {"kernels", kernels(profile)},
                     {"classes", classes(profile)},
                     {"kernels_topk", top_kernels(profile)},
                     {"diagnostics", diagnostics(profile)}};
  return json.dump(2) + "\n";
}

}  // namespace llmprof
