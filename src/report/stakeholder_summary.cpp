#include "report/stakeholder_summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "base/files.h"
#include "base/units.h"
#include "report/capture_words.h"
#include "report/markdown.h"
#include "report/numbers.h"
#include "report/typical.h"

namespace llmprof::report {
namespace {

constexpr size_t kShownRows = 10;

Paragraph not_available(const std::string& reason) { return {"Not available because " + reason}; }

void add_executive_summary(const Reported& reported, Document& document) {
  document.add(Heading{2, "Executive Summary"});
  std::string text;
  for (const std::string& each : executive_sentences(reported)) {
    if (!text.empty()) text += ' ';
    text += each;
  }
  document.add(Paragraph{text});
}

void add_environment(const Reported& reported, Document& document) {
  const analysis::Profile& profile = reported.profile;
  Table table;
  table.columns = {text_column("what"), text_column("value")};
  const auto add = [&](std::string_view what, std::string value) {
    if (!value.empty()) table.rows.push_back({std::string(what), std::move(value)});
  };
  for (const analysis::DeviceTotals& device : profile.totals.devices) {
    add(reported.words().device,
        device.name.empty() ? device.device : device.name + " (" + device.device + ")");
  }
  for (const trace::Capture& capture : profile.trace->captures) {
    add("capture", capture_words(capture));
    add("driver", capture.driver_version);
    add("CUDA", capture.cuda_version);
  }
  const analysis::Utilization& use = profile.utilization;
  if (use.model) {
    add("model", use.model->name);
    add("parameters", grouped(llm::parameter_count(*use.model)));
    add("weights", use.model->weights.name);
  } else {
    add("model", "not named (--model)");
  }
  const auto count = [&](const std::optional<analysis::TokenCount>& of) {
    return of && !reported.stages.empty() ? token_count_words(*of) : std::string();
  };
  if (profile.stages.confidence) {
    add("stages", fmt::format("found in the kernel sequence alone, sure to {}: {}",
                              percent(*profile.stages.confidence), clause(profile.stages.reason)));
  }
  add("batch (sequences)", count(use.workload.batch));
  add("prompt tokens a sequence", count(use.workload.prompt_tokens));
  add("new tokens a sequence", count(use.workload.new_tokens));
  document.add(Heading{2, "Environment"});
  document.add(std::move(table));
}

void add_aggregates(const Reported& reported, Document& document) {
  document.add(Heading{2, "Aggregates"});
  const bool stage1 = reported.profile.trace->workload.has_value();
  Table table;
  table.columns = {text_column("metric")};
  if (stage1) table.columns.push_back(number_column("unprofiled (Stage 1)"));
  table.columns.push_back(number_column("this capture"));
  if (stage1) table.columns.push_back(number_column("capture over unprofiled"));
  for (const AggregateRow& row : map_stage1_metrics_to_stats(reported)) {
    if (stage1) {
      table.rows.push_back({row.metric, row.stage1, row.captured, row.captured_over_stage1});
    } else {
      table.rows.push_back({row.metric, row.captured});
    }
  }
  document.add(std::move(table));
  for (std::string& words :
       std::vector<std::string>{measured_words(reported), overhead_words(reported.profile),
                                collector_overhead_words(reported.profile)}) {
    if (!words.empty()) document.add(Paragraph{std::move(words)});
  }
  if (!stage1) {
    document.add(Paragraph{
        "Unprofiled timings are not available because no Stage 1 metrics.json was among the "
        "inputs."});
  }
}

void add_stage_timings_table(const Reported& reported, Document& document) {
  document.add(Heading{2, "Per-Stage Timings"});
  if (reported.stages.empty()) {
    document.add(not_available(why_no_stages(reported.profile)));
    return;
  }
  const bool serving = reported.profile.stages.serving;
  Table table;
  table.columns = {text_column("stage"),
                   number_column(serving ? "engine steps measured" : "instances measured"),
                   number_column("wall, mean ± std (ms)"),
                   number_column("p50 (ms)"),
                   number_column("min to max (ms)"),
                   number_column("share of all stages' wall"),
                   number_column("busy share of wall")};
  if (!serving) table.columns.push_back(number_column("steps"));
  for (size_t i = 0; i < reported.stages.size(); ++i) {
    const analysis::Stage& stage = reported.stages[i];
    const StageFacts& facts = reported.facts.stages[i];
    const bool measured = stage.wall.count > 0;
    table.rows.push_back({stage.name, grouped(stage.wall.count), mean_and_std(stage.wall),
                          measured ? ms(stage.wall.p50) : std::string(kMissing),
                          range_ms(stage.wall), percent(facts.share_of_stage_time),
                          percent(facts.busy_share)});
    if (!serving) table.rows.back().push_back(step_count_words(stage, facts));
  }
  document.add(std::move(table));
  std::vector<std::string> notes;
  notes.reserve(reported.profile.stages.notes.size());
  for (const analysis::StageNote& note : reported.profile.stages.notes) {
    notes.push_back(fmt::format("{}, inside {}: {} ms of kernel time in {}.", note.name,
                                reported.stages[note.stage].name, ms(note.kernel_sum),
                                counted(note.kernel_count, "kernel")));
  }
  if (!notes.empty()) document.add(BulletList{std::move(notes)});
}

std::optional<double> stage1_mfu(const Reported& reported, const std::string& stage) {
  for (const Stage1Row& row : reported.facts.stage1) {
    if (row.stage == stage) return row.mfu;
  }
  return std::nullopt;
}

// Why a stage has no figure, each reason once.
std::vector<std::string> missing_figures(const Reported& reported) {
  std::vector<std::string> lines;
  const analysis::Utilization& use = reported.profile.utilization;
  if (!use.why_not.empty()) lines.push_back("Not available because " + clause(use.why_not));
  for (const analysis::StageUtilization& stage : use.stages) {
    if (stage.why_not.empty() || stage.why_not == use.why_not) continue;
    lines.push_back(fmt::format("{}: not available because {}", reported.stages[stage.stage].name,
                                clause(stage.why_not)));
  }
  return lines;
}

void add_mfu(const Reported& reported, Document& document) {
  document.add(Heading{2, "MFU"});
  const bool stage1 = std::any_of(reported.facts.stage1.begin(), reported.facts.stage1.end(),
                                  [](const Stage1Row& row) { return row.mfu.has_value(); });
  Table table;
  table.columns = {text_column("stage"),
                   number_column("MFU on wall"),
                   number_column("MFU on busy"),
                   number_column("MBU on wall"),
                   number_column("MBU on busy"),
                   text_column("bound by"),
                   number_column("least possible (ms)")};
  if (stage1) table.columns.push_back(number_column("MFU, Stage 1"));
  bool known = stage1;
  for (size_t i = 0; i < reported.stages.size(); ++i) {
    static const analysis::StageUtilization unknown;
    const analysis::StageUtilization* found = reported.facts.stages[i].utilization;
    const analysis::StageUtilization& use = found != nullptr ? *found : unknown;
    known = known || use.mfu_wall || use.mbu_wall;
    const std::string bound = use.memory_bound ? "memory" : "compute";
    const bool told = bound_is_known(found);
    table.rows.push_back({reported.stages[i].name, percent(use.mfu_wall), percent(use.mfu_busy),
                          percent(use.mbu_wall), percent(use.mbu_busy),
                          told ? bound : std::string(kMissing),
                          told ? ms(*use.floor) : std::string(kMissing)});
    if (stage1) table.rows.back().push_back(percent(stage1_mfu(reported, reported.stages[i].name)));
  }
  if (!known || table.rows.empty()) {
    document.add(not_available(why_no_utilization(reported.profile)));
    return;
  }
  document.add(std::move(table));
  const analysis::DeviceWords& words = reported.words();
  document.add(Paragraph{fmt::format(
      "MFU is the share of the {0}'s {1} FLOP/s that {2} FLOPs make up, MBU the share of its {3} "
      "memory bandwidth; of wall time, and of the time the {0} was busy.",
      words.device, words.peak,
      reported.profile.utilization.model || reported.profile.device == trace::DeviceKind::gpu
          ? "the model's own"
          : "the operators' recorded",
      reported.profile.device == trace::DeviceKind::cpu ? "measured" : "peak")});
  if (auto lines = missing_figures(reported); !lines.empty()) {
    document.add(BulletList{std::move(lines)});
  }
}

void add_takeaways(const Reported& reported, Document& document) {
  document.add(Heading{2, "Stage Takeaways"});
  if (reported.stages.empty()) {
    document.add(not_available("there are no stages (see the per-stage timings)."));
    return;
  }
  Table table;
  table.columns = {text_column("stage"), text_column("what the numbers mean")};
  for (const auto& [stage, message] : heuristic_msgs(reported)) {
    table.rows.push_back({stage, message});
  }
  document.add(std::move(table));
}

void add_top_operators(const Reported& reported, Document& document) {
  document.add(Heading{2, "Top Operators"});
  if (reported.profile.operators.rows.empty()) {
    document.add(not_available(why_no_operators(reported.profile)));
    return;
  }
  document.add(operator_table(reported.profile, kShownRows));
}

void add_top_kernel_table(const Reported& reported, Document& document) {
  document.add(Heading{2, "Top Kernels"});
  const analysis::KernelRanking& ranking = reported.profile.ranking;
  if (ranking.rows.empty()) {
    document.add(not_available("the capture holds no kernel."));
    return;
  }
  Table table;
  table.columns = {text_column("kernel"),     text_column("class"),
                   number_column("total_ms"), number_column("share of kernel time"),
                   number_column("calls"),    number_column("mean_ms"),
                   text_column("device")};
  for (const NamedKernel& name : reported.facts.top_names) {
    const analysis::KernelDescription& kernel = ranking.rows[name.row].description;
    table.rows.push_back({kernel.short_name, std::string(analysis::to_string(kernel.kernel_class)),
                          exact_ms(name.total), percent(name.share), grouped(name.calls),
                          rounded_ms(name.mean()), name.devices});
  }
  document.add(std::move(table));
}

void add_recommendations(const Reported& reported, Document& document) {
  document.add(Heading{2, "Recommendations"});
  const auto& findings = reported.profile.findings;
  const auto& hidden = reported.profile.hidden_graphs;
  if (findings.empty() && !hidden) {
    document.add(not_available(why_no_findings(reported.profile)));
    return;
  }
  Table table;
  table.columns = {
      text_column("what was found"), text_column("what to do"), text_column("stage"),
      number_column(fmt::format("brings at the most (ms {})", instance_words(reported.profile))),
      number_column("share of the stage's wall")};
  if (hidden && (findings.empty() || !findings.front().blind)) {
    constexpr std::string_view kAdvice =
        "Capture again with nsys profile --cuda-graph-trace=node before anything else: what is "
        "below knows only the rest.";
    const std::string missing(kMissing);
    table.rows.push_back(
        {fmt::format("{} of the GPU time is in CUDA graphs whose kernels were not captured",
                     percent(hidden->share)),
         std::string(kAdvice), missing, missing, missing});
  }
  for (size_t i = 0; i < std::min(kShownRows, findings.size()); ++i) {
    const analysis::Finding& finding = findings[i];
    table.rows.push_back(
        {finding.title, finding.advice,
         finding.stage.empty() ? std::string(kMissing) : finding.stage,
         finding.blind ? std::string(kMissing) : ms(finding.recoverable),
         finding.stage.empty() ? std::string(kMissing) : percent(finding.share_of_wall)});
  }
  document.add(std::move(table));
  document.add(Paragraph{"Most to gain first. The gains overlap: they do not add up."});
}

}  // namespace

std::vector<AggregateRow> map_stage1_metrics_to_stats(const Reported& reported) {
  const std::string missing(kMissing);
  const Facts& facts = reported.facts;
  const analysis::Profile& profile = reported.profile;
  std::vector<AggregateRow> rows;
  const auto captured = [&](std::string_view metric, std::string value) {
    rows.push_back({std::string(metric), missing, std::move(value), missing});
  };
  const auto& workload = profile.trace->workload;
  for (const Stage1Row& row : facts.stage1) {
    if (!row.mean_ms) continue;
    std::string own = ms(*row.mean_ms * kNanosecondsPerMillisecond);
    if (row.std_ms) own += " \xC2\xB1 " + ms(*row.std_ms * kNanosecondsPerMillisecond);
    rows.push_back(
        {row.stage + " (ms)", own,
         row.captured_ms ? ms(*row.captured_ms * kNanosecondsPerMillisecond) : missing,
         row.captured_over_stage1 ? fmt::format("{:.2f}", *row.captured_over_stage1) : missing});
  }
  if (facts.request && !facts.request_spread) {
    captured("request: prefill and decode, means (ms)", ms(facts.request));
  }
  if (const auto& first = profile.stages.time_to_first_token) {
    captured(widely_spread(*first) ? "time to first token, min to max (ms)"
                                   : "time to first token, mean ± std (ms)",
             widely_spread(*first) ? range_ms(*first) : mean_and_std(*first));
  }
  if (const auto& token = profile.stages.time_per_output_token) {
    if (widely_spread(*token)) {
      if (!is_few(*token)) captured("time per output token, median (ms)", ms(token->p50));
      captured("time per output token, min to max (ms)", range_ms(*token));
    } else {
      captured("time per output token, mean ± std (ms)", mean_and_std(*token));
    }
  }
  if (facts.tokens_per_s_per_sequence) {
    captured("tokens a second for each sequence", rate(facts.tokens_per_s_per_sequence));
  }
  const auto& batch = profile.utilization.workload.batch;
  const bool assumed = batch && batch->source == "assumed";
  const std::optional<double> own_rate = workload ? workload->tokens_per_s : std::nullopt;
  if ((facts.tokens_per_s && !assumed) || own_rate) {
    rows.push_back(
        {"tokens a second, whole batch", rate(own_rate), rate(facts.tokens_per_s), missing});
  }
  if (workload && workload->mfu_model_level) {
    rows.push_back(
        {"MFU of the whole model", percent(workload->mfu_model_level), missing, missing});
  }
  if (facts.busy_share)
    captured(fmt::format("{} busy, share of the stages' wall", reported.words().device),
             percent(facts.busy_share));
  if (const auto& bounds = facts.bounds) {
    captured("kernel time bound by memory, share", percent(bounds->memory));
    captured("kernel time bound by compute, share", percent(bounds->compute));
    captured("kernel time bound by latency, share", percent(bounds->latency));
    captured("kernel time whose bound is not known, share", percent(bounds->unknown));
  }
  if (profile.totals.gpu_count > 1) captured("GPUs", grouped(profile.totals.gpu_count));
  captured("kernels", grouped(profile.totals.kernel_count));
  captured("kernel time (ms)", ms(profile.totals.kernel_sum));
  if (facts.time_in_stages && !reported.stages.empty()) {
    captured("kernel time inside stages, share", percent(facts.time_in_stages));
  }
  if (profile.hidden_graphs) {
    captured("GPU time in graphs whose kernels were not captured, share",
             percent(profile.hidden_graphs->share));
  }
  return rows;
}

Document stakeholder_document(const analysis::Profile& profile) {
  const Reported reported(profile);
  Document document;
  document.add(Heading{1, "Stakeholder summary"});
  add_selection(profile, document);
  add_failed_captures(profile, document);
  add_executive_summary(reported, document);
  add_environment(reported, document);
  add_aggregates(reported, document);
  add_stage_timings_table(reported, document);
  add_mfu(reported, document);
  add_takeaways(reported, document);
  add_top_operators(reported, document);
  add_top_kernel_table(reported, document);
  add_recommendations(reported, document);
  return document;
}

Result<void> write_stakeholder_summary(const analysis::Profile& profile,
                                       const std::filesystem::path& path) {
  return write_file_atomically(path, to_markdown(stakeholder_document(profile)));
}

}  // namespace llmprof::report
