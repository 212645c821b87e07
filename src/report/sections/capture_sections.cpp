#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "report/numbers.h"
#include "report/sections/sections.h"

namespace llmprof::report {
namespace {

std::string or_missing(const std::string& text) {
  return text.empty() ? std::string(kMissing) : text;
}

Table capture_table(const analysis::Profile& profile) {
  const trace::Trace& trace = *profile.trace;
  const bool gpu = profile.device == trace::DeviceKind::gpu;
  Table table;
  table.columns = {code_column("file"), text_column("format"), text_column("tool")};
  const bool ranks =
      std::any_of(trace.captures.begin(), trace.captures.end(),
                  [](const trace::Capture& capture) { return capture.rank.has_value(); });
  if (ranks) table.columns.push_back(number_column("rank"));
  if (gpu) {
    table.columns.push_back(text_column("driver"));
    table.columns.push_back(text_column("CUDA"));
  }
  for (const trace::Capture& capture : trace.captures) {
    std::string tool = capture.tool;
    if (!capture.tool_version.empty()) tool += " " + capture.tool_version;
    table.rows.push_back({std::filesystem::path(capture.path).filename().string(), capture.format,
                          or_missing(tool)});
    if (ranks) {
      table.rows.back().push_back(capture.rank ? std::to_string(*capture.rank)
                                               : std::string(kMissing));
    }
    if (!gpu) continue;
    table.rows.back().push_back(or_missing(capture.driver_version));
    table.rows.back().push_back(or_missing(capture.cuda_version));
  }
  return table;
}

std::string scaled_or_missing(uint64_t number, std::string_view unit) {
  return number == 0 ? std::string(kMissing) : scaled(static_cast<double>(number), unit);
}

Table cpu_table(const analysis::Profile& profile) {
  const trace::Trace& trace = *profile.trace;
  const auto& cpu = profile.utilization.gpu;
  Table table;
  table.columns = {text_column("device"), text_column("CPU"), number_column("measured peak"),
                   number_column("measured memory bandwidth"), text_column("how measured")};
  for (size_t i = 0; i < trace.devices.size(); ++i) {
    if (trace.devices[i].kind != trace::DeviceKind::cpu) continue;
    const std::string missing(kMissing);
    table.rows.push_back({analysis::device_label(trace, trace::DeviceId(i)),
                          or_missing(trace.devices[i].name),
                          cpu ? scaled(cpu->fp32, "FLOP/s") : missing,
                          cpu ? scaled(cpu->memory_bandwidth, "B/s") : missing,
                          cpu ? or_missing(cpu->measured_how) : missing});
  }
  return table;
}

Table device_table(const analysis::Profile& profile) {
  const trace::Trace& trace = *profile.trace;
  Table table;
  if (profile.device == trace::DeviceKind::cpu) return cpu_table(profile);
  table.columns = {
      text_column("device"), text_column("GPU"),      text_column("compute capability"),
      number_column("SMs"),  number_column("memory"), number_column("bandwidth"),
      number_column("clock")};
  for (size_t i = 0; i < trace.devices.size(); ++i) {
    const trace::Device& device = trace.devices[i];
    table.rows.push_back({analysis::device_label(trace, trace::DeviceId(i)),
                          or_missing(device.name), or_missing(device.compute_capability),
                          device.sm_count == 0 ? std::string(kMissing) : grouped(device.sm_count),
                          scaled_or_missing(device.memory_bytes, "B"),
                          scaled_or_missing(device.memory_bandwidth, "B/s"),
                          scaled_or_missing(device.clock_hz, "Hz")});
  }
  return table;
}

void add_count(Table& table, std::string_view what,
               const std::optional<analysis::TokenCount>& count) {
  if (count) table.rows.push_back({std::string(what), grouped(count->value), count->source});
}

Table workload_table(const analysis::Utilization& use) {
  Table table;
  table.columns = {text_column("what ran"), text_column("value"), text_column("from")};
  if (use.model) {
    const llm::ModelSpec& model = *use.model;
    table.rows.push_back({"model", model.name, model.source});
    table.rows.push_back({"parameters", grouped(llm::parameter_count(model)), ""});
    table.rows.push_back(
        {"parameters a token meets", grouped(llm::active_parameter_count(model)), ""});
    table.rows.push_back(
        {"weights",
         fmt::format("{}, {}", scaled(llm::weight_bytes(model), "B"), model.weights.name), ""});
  }
  if (use.stages.empty()) return table;
  add_count(table, "batch (sequences)", use.workload.batch);
  add_count(table, "prompt tokens a sequence", use.workload.prompt_tokens);
  add_count(table, "new tokens a sequence", use.workload.new_tokens);
  const llm::Parallelism& parallel = use.workload.parallel;
  if (parallel.tp > 1 || parallel.pp > 1 || parallel.ep > 1) {
    table.rows.push_back({"parallel",
                          fmt::format("tp {}, pp {}, ep {}", parallel.tp, parallel.pp, parallel.ep),
                          ""});
  }
  return table;
}

}  // namespace

void add_captures(const Reported& reported, Document& document) {
  const analysis::Profile& profile = reported.profile;
  document.add(Heading{2, "What was captured"});
  document.add(capture_table(profile));
  if (!profile.trace->devices.empty()) document.add(device_table(profile));
  Table workload = workload_table(profile.utilization);
  if (!workload.rows.empty()) document.add(std::move(workload));
  if (const auto& model = profile.utilization.model; model && !model->notes.empty()) {
    document.add(BulletList{model->notes});
  }
}

void add_diagnostics(const Reported& reported, Document& document) {
  document.add(Heading{2, "About this capture"});
  std::vector<std::string> lines;
  for (const Diagnostic& item : reported.profile.diagnostics.items()) {
    std::string line =
        fmt::format("{} ({}): {}", analysis::to_string(item.severity), item.code, item.message);
    if (item.count > 1) line += fmt::format(" [{} times]", grouped(item.count));
    lines.push_back(std::move(line));
  }
  if (lines.empty()) {
    document.add(Paragraph{"Nothing to complain of: no event was dropped, skipped or damaged."});
  } else {
    document.add(BulletList{std::move(lines)});
  }
}

}  // namespace llmprof::report
