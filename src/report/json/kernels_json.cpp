#include "base/units.h"
#include "report/json/json_sections.h"
#include "report/kernel_report.h"

namespace llmprof::report {
namespace {

constexpr size_t kTopKernels = 20;
constexpr size_t kMetricFields = 5;
constexpr size_t kKernelFields = 20;
constexpr size_t kShapeFields = 6;

Json metrics_json(const analysis::KernelRow& row) {
  JsonObject json(row.metrics.size());
  for (const auto& [name, metric] : row.metrics) {
    JsonObject values(kMetricFields);
    values.add("mean", metric.mean);
    values.add("min", metric.min);
    values.add("max", metric.max);
    values.add("count", metric.count);
    values.add("unit", text_or_null(metric.unit));
    json.add(to_printable(name), values.take());
  }
  return json.take();
}

// Without the stages it has no part in.
Json stage_times_json(const analysis::Profile& profile,
                      const std::vector<analysis::StageTime>& times) {
  Json json = Json::object();
  for (size_t i = 0; i < times.size(); ++i) {
    if (times[i].calls == 0) continue;
    json[to_printable(profile.stages.stages[i].name)] = {
        {"total_ms", milliseconds(times[i].total)},
        {"calls", times[i].calls},
        {"steady_total_ms", milliseconds(times[i].steady_total)},
        {"steady_calls", times[i].steady_calls}};
  }
  return json;
}

Json shapes_json(const Facts& facts, const analysis::OpenedKernel& opened) {
  Json rows = Json::array();
  for (const analysis::ShapeRow& shape : opened.shapes) {
    JsonObject json(kShapeFields);
    json.add("grid", shape.grid);
    json.add("block", shape.block);
    json.add("calls", shape.calls);
    json.add("total_ms", milliseconds(shape.total));
    json.add("mean_ms", milliseconds(static_cast<double>(shape.total) /
                                     static_cast<double>(shape.calls == 0 ? 1 : shape.calls)));
    json.add("ms_per_token", milliseconds(time_per_token(facts, shape.stages)));
    rows.push_back(json.take());
  }
  return rows;
}

Json kernel_json(const analysis::Profile& profile, const Facts& facts, size_t index) {
  static const analysis::OpenedKernel unopened;
  const analysis::KernelRow& row = profile.ranking.rows[index];
  const analysis::OpenedKernel& opened =
      index < profile.opened.size() ? profile.opened[index] : unopened;
  JsonObject json(kKernelFields);
  json.add("kernel_name", to_printable(profile.trace->strings[row.name]));
  json.add("short_name", row.description.short_name);
  json.add("class", analysis::to_string(row.description.kernel_class));
  json.add("library", text_or_null(row.description.library));
  json.add("device", row.device);
  json.add("total_ms", milliseconds(row.total));
  json.add("total_ns", row.total);
  json.add("calls", row.calls);
  json.add("mean_ms", milliseconds(row.mean_ns()));
  json.add("min_ms", milliseconds(row.min));
  json.add("p50_ms", milliseconds(row.p50));
  json.add("p99_ms", milliseconds(row.p99));
  json.add("max_ms", milliseconds(row.max));
  json.add("share", row.share);
  json.add("ms_per_token", milliseconds(time_per_token(facts, opened.stages)));
  json.add("stages", stage_times_json(profile, opened.stages));
  json.add("shapes", shapes_json(facts, opened));
  json.add("flops", value_or_null(row.flops));
  json.add("bytes", value_or_null(row.bytes));
  json.add("metrics", metrics_json(row));
  return json.take();
}

}  // namespace

Json kernels_json(const analysis::Profile& profile, const Facts& facts) {
  Json rows = Json::array();
  for (size_t i = 0; i < profile.ranking.rows.size(); ++i) {
    rows.push_back(kernel_json(profile, facts, i));
  }
  return rows;
}

Json classes_json(const analysis::Profile& profile) {
  Json rows = Json::array();
  for (const analysis::ClassRow& row : profile.ranking.classes) {
    rows.push_back({{"class", analysis::to_string(row.kernel_class)},
                    {"total_ms", milliseconds(row.total)},
                    {"calls", row.calls},
                    {"share", row.share}});
  }
  return rows;
}

Json kernels_topk_json(const analysis::Profile& profile) {
  Json rows = Json::array();
  for (const trace::KernelRecord& record : top_n_kernels(kernel_records(profile), kTopKernels)) {
    rows.push_back({{"kernel_name", to_printable(record.kernel_name)},
                    {"device", record.device},
                    {"total_ms", record.total_ms},
                    {"calls", record.calls},
                    {"mean_ms", record.mean_ms}});
  }
  return rows;
}

Json kernels_all_devices_json(const analysis::Profile& profile, const Facts& facts) {
  Json rows = Json::array();
  for (const NamedKernel& name : facts.top_names) {
    const analysis::KernelRow& row = profile.ranking.rows[name.row];
    rows.push_back({{"kernel_name", to_printable(profile.trace->strings[row.name])},
                    {"short_name", row.description.short_name},
                    {"devices", name.devices},
                    {"total_ms", milliseconds(name.total)},
                    {"calls", name.calls},
                    {"mean_ms", milliseconds(name.mean())},
                    {"share", name.share}});
  }
  return rows;
}

namespace {

std::optional<double> per_second(const std::optional<double>& sum, Nanoseconds time) {
  if (!sum || time <= 0) return std::nullopt;
  return *sum / static_cast<double>(time) * kNanosecondsPerSecond;
}

}  // namespace

Json operators_json(const analysis::Profile& profile) {
  const analysis::Operators& operators = profile.operators;
  Json rows = Json::array();
  for (const analysis::OperatorRow& row : operators.rows) {
    rows.push_back({{"name", to_printable(row.name)},
                    {"calls", row.calls},
                    {"cpu_total_ms", milliseconds(row.cpu_total)},
                    {"cpu_self_ms", milliseconds(row.cpu_self)},
                    {"cuda_total_ms", milliseconds(row.cuda_total)},
                    {"cuda_self_ms", milliseconds(row.cuda_self)},
                    {"mean_ms", milliseconds(row.mean_cpu_ns())},
                    {"kernel_count", row.kernel_count},
                    {"flops", value_or_null(row.flops)},
                    {"bytes", value_or_null(row.bytes)},
                    {"flops_per_s", value_or_null(per_second(row.flops, row.cpu_total))},
                    {"bytes_per_s", value_or_null(per_second(row.bytes, row.cpu_total))}});
  }
  return rows;
}

Json operators_found_json(const analysis::Profile& profile, const Facts& facts) {
  const analysis::Operators& operators = profile.operators;
  return {{"source", text_or_null(operators.source)},
          {"why_not", text_or_null(operators.missing)},
          {"kernels_with_operator", operators.kernels},
          {"kernels_without_operator", operators.kernels_without},
          {"kernels", operators.kernels + operators.kernels_without},
          {"kernels_share", value_or_null(facts.operators.share_of_kernels)},
          {"cuda_self_sum_ms", milliseconds(facts.operators.time)},
          {"share_of_gpu_time", value_or_null(facts.operators.share_of_gpu_time)},
          {"graph_kernels", facts.operators.graph_kernels}};
}

Json roofline_json(const analysis::Profile& profile, const Facts& facts) {
  constexpr double kPercent = 100;
  const auto fraction = [](const std::optional<double>& value) {
    return value ? Json(*value / kPercent) : Json(nullptr);
  };
  Json rows = Json::array();
  for (const analysis::KernelRoofline& kernel : profile.roofline.kernels) {
    const analysis::KernelRow& row = profile.ranking.rows[kernel.row];
    rows.push_back({{"kernel_name", to_printable(profile.trace->strings[row.name])},
                    {"short_name", row.description.short_name},
                    {"device", row.device},
                    {"launches", kernel.launches},
                    {"commonest_grid", kernel.grid ? Json(*kernel.grid) : Json(nullptr)},
                    {"grids", kernel.grids},
                    {"flops_per_s", value_or_null(kernel.flops)},
                    {"bytes_per_s", value_or_null(kernel.bytes)},
                    {"flops_per_byte", value_or_null(kernel.intensity)},
                    {"compute_share_of_peak", fraction(kernel.compute_percent)},
                    {"memory_share_of_peak", fraction(kernel.memory_percent)},
                    {"bound", analysis::to_string(kernel.bound)}});
  }
  Json shares = nullptr;
  if (const auto& bounds = facts.bounds) {
    shares = {{"memory", bounds->memory},
              {"compute", bounds->compute},
              {"latency", bounds->latency},
              {"unknown", bounds->unknown}};
  }
  return {{"rule", text_or_null(profile.roofline.rule)},
          {"share_of_kernel_time", std::move(shares)},
          {"why_not", text_or_null(profile.roofline.missing)},
          {"kernels", std::move(rows)}};
}

}  // namespace llmprof::report
