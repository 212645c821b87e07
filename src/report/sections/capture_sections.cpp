#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "report/format/figures.h"
#include "report/format/part_names.h"
#include "report/sections/section_words.h"
#include "report/sections/sections.h"

namespace llmprof::report {
namespace {

Cell number_or_missing(const std::optional<uint64_t>& number) {
  return number ? Cell(std::to_string(*number)) : Cell(std::string(kMissing));
}

template <class Quantity>
std::optional<Quantity> as(const std::optional<uint64_t>& number) {
  if (!number) return std::nullopt;
  return Quantity{static_cast<double>(*number)};
}

Table capture_table(const profile::Profile& profile) {
  const auto& captures = profile.context.captures;
  const bool gpu = !on_cpu(profile);
  Table table{columns("`file | format | tool")};
  const bool ranks =
      std::any_of(captures.begin(), captures.end(),
                  [](const profile::Capture& capture) { return capture.rank.has_value(); });
  if (ranks) table.columns.push_back(number_column("rank"));
  if (gpu) {
    table.columns.push_back(text_column("driver"));
    table.columns.push_back(text_column("CUDA"));
  }
  for (const profile::Capture& capture : captures) {
    std::string tool = capture.tool.value_or("");
    if (capture.tool_version) tool += (tool.empty() ? "" : " ") + *capture.tool_version;
    auto& row = table.rows.emplace_back();
    row = {std::filesystem::path(capture.path).filename().string(),
           std::string(shown_text(capture.format)), tool.empty() ? std::string(kMissing) : tool};
    if (ranks) row.push_back(number_or_missing(capture.rank));
    if (!gpu) continue;
    row.emplace_back(or_missing(capture.driver));
    row.emplace_back(or_missing(capture.cuda));
  }
  return table;
}

Table cpu_table(const profile::Profile& profile) {
  const auto& peaks = profile.utilization.cpu;
  Table table;
  table.columns =
      columns("device | CPU | #measured peak | #measured memory bandwidth | how measured");
  for (const profile::Cpu& cpu : profile.context.cpus) {
    table.rows.push_back({cpu.device, or_missing(cpu.name),
                          scaled(peaks ? peaks->flops : std::nullopt),
                          scaled(peaks ? std::optional(peaks->memory_bandwidth) : std::nullopt),
                          or_missing(peaks ? peaks->method : std::nullopt)});
  }
  return table;
}

Table gpu_table(const profile::Profile& profile) {
  Table table;
  table.columns =
      columns("device | GPU | compute capability | #SMs | #memory | #bandwidth | #clock");
  for (const profile::Gpu& gpu : profile.context.gpus) {
    table.rows.push_back({gpu.device, or_missing(gpu.name), or_missing(gpu.compute_capability),
                          number_or_missing(gpu.sm_count),
                          scaled(as<profile::Bytes>(gpu.memory_bytes)),
                          scaled(as<profile::BytesPerSecond>(gpu.memory_bandwidth)),
                          clock(as<profile::Hertz>(gpu.clock))});
  }
  return table;
}

void add_count(Table& table, std::string_view what, const std::optional<uint64_t>& count,
               const std::optional<std::string>& source) {
  if (count) table.rows.push_back({std::string(what), grouped(*count), source.value_or("")});
}

Table workload_table(const profile::Profile& profile) {
  const profile::Workload& workload = profile.workload;
  Table table{columns("what ran | value | from")};
  if (const auto& model = profile.model) {
    table.rows.push_back({"model", model->name.value_or(""), model->source.value_or("")});
    table.rows.push_back({"parameters", plain(model->params), ""});
    table.rows.push_back({"parameters active per token", plain(model->active_params), ""});
    table.rows.push_back(
        {"weights", fmt::format("{}, {}", scaled(model->weight_bytes), model->weights_dtype), ""});
  }
  if (profile.stages.empty()) return table;
  add_count(table, "batch (sequences)", workload.batch, workload.batch_source);
  add_count(table, "prompt tokens per sequence", workload.prompt_tokens,
            workload.prompt_tokens_source);
  add_count(table, "new tokens per sequence", workload.new_tokens, workload.new_tokens_source);
  if (workload.tp > 1 || workload.pp > 1 || workload.ep > 1) {
    table.rows.push_back(
        {"parallelism",
         fmt::format("tensor {}, pipeline {}, expert {}", workload.tp, workload.pp, workload.ep),
         ""});
  }
  return table;
}

void add_filled(Table table, Document& document) {
  if (!table.rows.empty()) document.add(std::move(table));
}

}  // namespace

void add_section(Topic<"captures"> /*topic*/, const Profile& profile, Document& document) {
  document.add(Heading{2, "What was recorded"});
  document.add(capture_table(profile));
  add_filled(on_cpu(profile) ? cpu_table(profile) : gpu_table(profile), document);
  add_filled(workload_table(profile), document);
  if (profile.model && !profile.model->notes.empty()) {
    document.add(BulletList{profile.model->notes});
  }
}

void add_selection(const profile::Profile& profile, Document& document) {
  if (profile.selection && !profile.selection->words.empty()) {
    document.add(Callout{Callout::Kind::note, profile.selection->words});
  }
}

std::string diagnostic_line(const profile::Diagnostic& diagnostic) {
  std::string line =
      fmt::format("{} ({}): {}", diagnostic.severity, diagnostic.code, diagnostic.message);
  if (diagnostic.count > 1) line += fmt::format(" [{} times]", grouped(diagnostic.count));
  return line;
}

void add_section(Topic<"diagnostics"> /*topic*/, const Profile& profile, Document& document) {
  document.add(Heading{2, "About this capture"});
  if (profile.diagnostics.empty()) {
    document.add(Paragraph{"Complete: no event was dropped, skipped or damaged."});
    return;
  }
  BulletList list;
  for (const profile::Diagnostic& item : profile.diagnostics) {
    list.items.push_back(diagnostic_line(item));
  }
  document.add(std::move(list));
}

}  // namespace llmprof::report
