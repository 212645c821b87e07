#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>

#include "profile/lost_data.h"
#include "report/format/figures.h"
#include "report/format/part_names.h"
#include "report/sections/section_words.h"
#include "report/sections/sections.h"

namespace llmprof::report {
namespace {

Cell number_or_missing(const std::optional<uint64_t>& number) {
  return number ? std::to_string(*number) : std::string(kMissing);
}

template <class Quantity>
std::optional<Quantity> as(const std::optional<uint64_t>& number) {
  if (!number) return std::nullopt;
  return Quantity{static_cast<double>(*number)};
}

Table capture_table(const profile::Profile& profile) {
  const auto& captures = profile.context.captures;
  const bool ranks =
      std::ranges::any_of(captures, [](const auto& capture) { return capture.rank.has_value(); });
  Table table = table_of("`file | format | tool | #rank | driver | CUDA", captures,
                         [](const profile::Capture& capture) {
                           const std::string tool = joined(
                               {capture.tool.value_or(""), capture.tool_version.value_or("")}, " ");
                           return cells(std::filesystem::path(capture.path).filename().string(),
                                        shown_text(capture.format), tool.empty() ? kMissing : tool,
                                        number_or_missing(capture.rank), or_missing(capture.driver),
                                        or_missing(capture.cuda));
                         });
  const bool gpu = !on_cpu(profile);
  return table.show_if(ranks, "rank").show_if(gpu, "driver").show_if(gpu, "CUDA");
}

Table cpu_table(const profile::Profile& profile) {
  const auto& peaks = profile.utilization.cpu;
  return table_of(
      "device | CPU | #measured peak | #measured memory bandwidth | how measured",
      profile.context.cpus, [&](const profile::Cpu& cpu) {
        return cells(cpu.device, or_missing(cpu.name), in_unit(peaks ? peaks->flops : std::nullopt),
                     in_unit(peaks ? std::optional(peaks->memory_bandwidth) : std::nullopt),
                     or_missing(peaks ? peaks->method : std::nullopt));
      });
}

Table gpu_table(const profile::Profile& profile) {
  return table_of(
      "device | GPU | compute capability | #SMs | #memory | #bandwidth | #clock",
      profile.context.gpus, [](const profile::Gpu& gpu) {
        return cells(gpu.device, or_missing(gpu.name), or_missing(gpu.compute_capability),
                     number_or_missing(gpu.sm_count), in_unit(as<profile::Bytes>(gpu.memory_bytes)),
                     in_unit(as<profile::BytesPerSecond>(gpu.memory_bandwidth)),
                     in_unit(as<profile::Hertz>(gpu.clock)));
      });
}

Table workload_table(const profile::Profile& profile) {
  const profile::Workload& workload = profile.workload;
  Table table = table_of("what ran | value | from");
  if (const auto& model = profile.model) {
    table.rows = {
        {"model", model->name.value_or(""), model->source.value_or("")},
        {"parameters", plain(model->params), ""},
        {"parameters active per token", plain(model->active_params), ""},
        {"weights", fmt::format("{}, {}", in_unit(model->weight_bytes), model->weights_dtype), ""}};
  }
  if (profile.stages.empty()) return table;
  for (const TokenCount& count : token_counts(workload)) {
    if (count.value) {
      table.rows.push_back({std::string(count.what), grouped(*count.value), count.source});
    }
  }
  if (workload.tp > 1 || workload.pp > 1 || workload.ep > 1) {
    table.rows.push_back(
        {"parallelism",
         fmt::format("tensor {}, pipeline {}, expert {}", workload.tp, workload.pp, workload.ep),
         ""});
  }
  return table;
}

// "PyTorch with torch.compile", "vLLM, eager"; a program that replays graphs is not eager.
std::string engine_and_mode(const profile::Engine& engine) {
  if (!engine.compiled) return engine.name;
  if (engine.name == profile::kPyTorch && *engine.compiled) return "PyTorch with torch.compile";
  const std::string_view mode = *engine.compiled                     ? "compiled"
                                : engine.cuda_graphs.value_or(false) ? "not compiled"
                                                                     : "eager";
  return fmt::format("{}, {}", engine.name, mode);
}

std::string graph_words(const profile::Engine& engine) {
  if (!engine.cuda_graphs) return {};
  if (!*engine.cuda_graphs) return ", no CUDA graphs";
  if (!engine.kernels_in_graphs) return ", with CUDA graphs";
  return fmt::format(", {} of its kernels replayed by CUDA graphs",
                     percent(engine.kernels_in_graphs));
}

// {0} is the subject of the evidence, {1} its share.
constexpr auto kSigns = [] {
  using enum profile::EngineSign;
  return profile::texts<profile::EngineSign>({
      {annotation, "annotation \"{0}\"."},
      {process, "process \"{0}\"."},
      {command, "command `{0}`."},
      {python_package, "functions of the Python package {0} on call stacks."},
      {operators, "operator {0}."},
      {kernels, "kernels of {0}: {1} of the kernel time."},
      {generated_kernels, "kernels generated by {0}: {1} of the kernel time."},
      {graph_replays, "{0} replay {1} of the kernels."},
  });
}();

std::string evidence_line(const profile::EngineEvidence& evidence) {
  if (!is_known(evidence.source)) {
    return fmt::format("{} {}.", to_string(evidence.source), evidence.subject);
  }
  if (evidence.source == profile::EngineSign::graph_replays && !evidence.share) {
    return fmt::format("{}, whose kernels were not recorded.", evidence.subject);
  }
  return fmt::format(fmt::runtime(kSigns[evidence.source]), evidence.subject,
                     percent(evidence.share));
}

// Work that is missing because of how it was recorded: reports have their own words for it, and
// advise how to record it.
bool is_of_recording(std::string_view code) {
  constexpr auto kCodes = std::to_array<std::string_view>(
      {"capture_without_rank", "collector_log_empty", "collector_stood_down",
       "launches_without_kernels", "rank_died", "rank_missing", "stage_not_traced"});
  return std::ranges::find(kCodes, code) != kCodes.end();
}

}  // namespace

std::vector<TokenCount> token_counts(const profile::Workload& workload) {
  return {
      {"batch (sequences)", workload.batch, workload.batch_source.value_or("")},
      {"prompt tokens per sequence", workload.prompt_tokens,
       workload.prompt_tokens_source.value_or("")},
      {"new tokens per sequence", workload.new_tokens, workload.new_tokens_source.value_or("")}};
}

void add_section(Topic<"captures"> /*topic*/, const Profile& profile, Document& document) {
  document.add(Heading{2, "What was recorded"});
  document.add(capture_table(profile));
  document.add_filled(on_cpu(profile) ? cpu_table(profile) : gpu_table(profile));
  document.add_filled(workload_table(profile));
  if (profile.model) document.add(BulletList{profile.model->notes});
}

void add_selection(const profile::Profile& profile, Document& document) {
  if (profile.selection) document.add(Callout{Callout::Kind::note, profile.selection->words});
}

std::string message_words(const profile::Diagnostic& diagnostic) {
  return diagnostic.count > 1
             ? fmt::format("{} [{} times]", diagnostic.message, grouped(diagnostic.count))
             : diagnostic.message;
}

BulletList diagnostic_list(const profile::Profile& profile) {
  BulletList list;
  for (const profile::Diagnostic& item : profile.diagnostics) {
    list.items.push_back(fmt::format("{} ({}): {}", item.severity, item.code, message_words(item)));
  }
  return list;
}

void add_section(Topic<"diagnostics"> /*topic*/, const Profile& profile, Document& document) {
  const bool complete = profile.diagnostics.empty();
  document.begin(2, "About this capture",
                 complete ? "Complete: no event was dropped, skipped or damaged." : "");
  document.add(diagnostic_list(profile));
}

bool is_damage(const profile::Profile& profile, const profile::Diagnostic& diagnostic) {
  return profile::means_lost_data(diagnostic, profile.totals.source) &&
         !is_of_recording(diagnostic.code);
}

bool is_damaged(const profile::Profile& profile) {
  return std::ranges::any_of(profile.diagnostics,
                             [&](const auto& each) { return is_damage(profile, each); });
}

void add_damage(const profile::Profile& profile, Document& document) {
  constexpr size_t kNamed = 3;
  size_t found = 0;
  std::string words = joined(profile.diagnostics, "; ", [&](const profile::Diagnostic& each) {
    return is_damage(profile, each) && ++found <= kNamed ? message_words(each) : std::string();
  });
  if (found == 0) return;
  if (found > kNamed) words += fmt::format("; and {} more", found - kNamed);
  while (words.ends_with('.')) words.pop_back();
  document.add(Callout{
      Callout::Kind::warning,
      fmt::format("The input is damaged: {}. All figures cover only what could be read.", words)});
}

std::string engine_words(const profile::Profile& profile) {
  const profile::Engine& engine = profile.engine;
  if (engine.name == profile::kUnknownEngine) return "not recognized" + graph_words(engine);
  std::string words = engine_and_mode(engine) + graph_words(engine);
  if (engine.confidence) words += fmt::format(" (confidence {})", percent(engine.confidence));
  return words;
}

bool is_pytorch_trace(const profile::Profile& profile) {
  return std::ranges::any_of(profile.context.captures,
                             [](const auto& each) { return each.format == "PyTorch trace"; });
}

bool without_framework(const profile::Profile& profile) {
  return profile.engine.framework != profile::kPyTorch && profile.totals.kernel_count > 0 &&
         !is_pytorch_trace(profile);
}

void add_section(Topic<"engine"> /*topic*/, const Profile& profile, Document& document) {
  if (on_cpu(profile)) return;
  document.add(Heading{2, "Engine"});
  document.add(Paragraph{
      profile.engine.name == profile::kUnknownEngine
          ? "Not recognized: nothing in this input identifies a known engine, so advice is general."
          : "The model runs on: " + engine_words(profile) + ". Advice below is specific to it."});
  BulletList list;
  std::ranges::transform(profile.engine.evidence, std::back_inserter(list.items), evidence_line);
  document.add(std::move(list));
}

}  // namespace llmprof::report
