#include "report/stakeholder_summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "base/files.h"
#include "report/markdown.h"
#include "report/numbers.h"

namespace llmprof {
namespace {

constexpr size_t kShownRows = 10;
constexpr double kNanosecondsPerMillisecond = 1e6;

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
  const Profile& profile = reported.profile;
  Table table;
  table.columns = {text_column("what"), text_column("value")};
  const auto add = [&](std::string_view what, std::string value) {
    if (!value.empty()) table.rows.push_back({std::string(what), std::move(value)});
  };
  for (const DeviceTotals& device : profile.totals.devices) {
    add("GPU", device.name.empty() ? device.device : device.name + " (" + device.device + ")");
  }
  for (const Capture& capture : profile.trace->captures) {
    std::string value = std::filesystem::path(capture.path).filename().string();
    value += " (" + capture.format;
    if (!capture.tool_version.empty()) value += ", " + capture.tool + " " + capture.tool_version;
    add("capture", value + ")");
    add("driver", capture.driver_version);
    add("CUDA", capture.cuda_version);
  }
  const Utilization& use = profile.utilization;
  if (use.model) {
    add("model", use.model->name);
    add("parameters", grouped(parameter_count(*use.model)));
    add("weights", use.model->weights.name);
  } else {
    add("model", "not named (--model)");
  }
  const auto count = [](const std::optional<TokenCount>& of) {
    return of ? grouped(of->value) : std::string();
  };
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
  Table table;
  table.columns = {text_column("stage"),
                   number_column("instances measured"),
                   number_column("wall, mean ± std (ms)"),
                   number_column("p99 (ms)"),
                   number_column("share of all stages' wall"),
                   number_column("GPU busy (ms)"),
                   number_column("busy share of wall"),
                   number_column("steps")};
  for (size_t i = 0; i < reported.stages.size(); ++i) {
    const Stage& stage = reported.stages[i];
    const StageFacts& facts = reported.facts.stages[i];
    const bool measured = stage.wall.count > 0;
    table.rows.push_back(
        {stage.name, grouped(stage.wall.count), mean_and_std(stage.wall),
         measured ? ms(stage.wall.p99) : std::string(kMissing), percent(facts.share_of_stage_time),
         measured ? ms(stage.busy.mean) : std::string(kMissing), percent(facts.busy_share),
         facts.steps == 0 ? std::string(kMissing) : grouped(facts.steps)});
  }
  document.add(std::move(table));
  std::vector<std::string> notes;
  notes.reserve(reported.profile.stages.notes.size());
  for (const StageNote& note : reported.profile.stages.notes) {
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
    static const StageUtilization unknown;
    const StageUtilization* found = reported.facts.stages[i].utilization;
    const StageUtilization& use = found != nullptr ? *found : unknown;
    known = known || use.mfu_wall || use.mbu_wall;
    const std::string bound = use.memory_bound ? "memory" : "compute";
    table.rows.push_back({reported.stages[i].name, percent(use.mfu_wall), percent(use.mfu_busy),
                          percent(use.mbu_wall), percent(use.mbu_busy),
                          use.floor ? bound : std::string(kMissing),
                          use.floor ? ms(*use.floor) : std::string(kMissing)});
    if (stage1) table.rows.back().push_back(percent(stage1_mfu(reported, reported.stages[i].name)));
  }
  if (!known || table.rows.empty()) {
    document.add(not_available(why_no_utilization(reported.profile)));
    return;
  }
  document.add(std::move(table));
  document.add(Paragraph{
      "MFU is the share of the GPU's dense peak FLOP/s that the model's own FLOPs make up, MBU the "
      "share of its peak memory bandwidth; of wall time, and of the time the GPU was busy."});
}

void add_takeaways(const Reported& reported, Document& document) {
  document.add(Heading{2, "Stage Takeaways"});
  if (reported.stages.empty()) {
    document.add(not_available(why_no_stages(reported.profile)));
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
  const KernelRanking& ranking = reported.profile.ranking;
  if (ranking.rows.empty()) {
    document.add(not_available("the capture holds no kernel."));
    return;
  }
  Table table;
  table.columns = {text_column("kernel"),     text_column("class"),
                   number_column("total_ms"), number_column("share of kernel time"),
                   number_column("calls"),    number_column("mean_ms"),
                   text_column("device")};
  for (size_t i = 0; i < std::min(kShownRows, ranking.rows.size()); ++i) {
    const KernelRow& row = ranking.rows[i];
    table.rows.push_back({row.description.short_name,
                          std::string(to_string(row.description.kernel_class)), exact_ms(row.total),
                          percent(row.share), grouped(row.calls), rounded_ms(row.mean_ns()),
                          row.device});
  }
  document.add(std::move(table));
}

void add_recommendations(const Reported& reported, Document& document) {
  document.add(Heading{2, "Recommendations"});
  const auto& findings = reported.profile.findings;
  if (findings.empty()) {
    document.add(not_available(why_no_findings(reported.profile)));
    return;
  }
  Table table;
  table.columns = {
      text_column("what was found"), text_column("what to do"), text_column("stage"),
      number_column(fmt::format("brings at the most (ms {})", instance_words(reported.profile))),
      number_column("share of the stage's wall")};
  for (size_t i = 0; i < std::min(kShownRows, findings.size()); ++i) {
    const Finding& finding = findings[i];
    table.rows.push_back({finding.title, finding.advice, finding.stage, ms(finding.recoverable),
                          percent(finding.share_of_wall)});
  }
  document.add(std::move(table));
  document.add(Paragraph{"Most to gain first. The gains overlap: they do not add up."});
}

}  // namespace

std::vector<AggregateRow> map_stage1_metrics_to_stats(const Reported& reported) {
  const std::string missing(kMissing);
  const Facts& facts = reported.facts;
  const Profile& profile = reported.profile;
  std::vector<AggregateRow> rows;
  const auto captured = [&](std::string_view metric, std::string value) {
    rows.push_back({std::string(metric), missing, std::move(value), missing});
  };
  if (facts.request) captured("request: prefill and decode (ms)", ms(facts.request));
  if (const auto& first = profile.stages.time_to_first_token) {
    captured("time to first token, mean ± std (ms)", mean_and_std(*first));
  }
  if (const auto& token = profile.stages.time_per_output_token) {
    captured("time per output token, mean ± std (ms)", mean_and_std(*token));
  }
  const auto& workload = profile.trace->workload;
  if (facts.tokens_per_s_per_sequence) {
    captured("tokens a second for each sequence", rate(facts.tokens_per_s_per_sequence));
  }
  const std::optional<double> own_rate = workload ? workload->tokens_per_s : std::nullopt;
  if (facts.tokens_per_s || own_rate) {
    rows.push_back(
        {"tokens a second, whole batch", rate(own_rate), rate(facts.tokens_per_s), missing});
  }
  for (const Stage1Row& row : facts.stage1) {
    if (!row.mean_ms) continue;
    std::string own = ms(*row.mean_ms * kNanosecondsPerMillisecond);
    if (row.std_ms) own += " \xC2\xB1 " + ms(*row.std_ms * kNanosecondsPerMillisecond);
    rows.push_back(
        {row.stage + " (ms)", own,
         row.captured_ms ? ms(*row.captured_ms * kNanosecondsPerMillisecond) : missing,
         row.captured_over_stage1 ? fmt::format("{:.2f}", *row.captured_over_stage1) : missing});
  }
  if (workload && workload->mfu_model_level) {
    rows.push_back(
        {"MFU of the whole model", percent(workload->mfu_model_level), missing, missing});
  }
  if (facts.busy_share) captured("GPU busy, share of the stages' wall", percent(facts.busy_share));
  captured("kernels", grouped(profile.totals.kernel_count));
  captured("kernel time (ms)", ms(profile.totals.kernel_sum));
  if (facts.time_in_stages) {
    captured("kernel time inside stages, share", percent(facts.time_in_stages));
  }
  if (profile.hidden_graphs) {
    captured("GPU time in graphs whose kernels were not captured, share",
             percent(profile.hidden_graphs->share));
  }
  return rows;
}

Document stakeholder_document(const Profile& profile) {
  const Reported reported(profile);
  Document document;
  document.add(Heading{1, "Stakeholder summary"});
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

Result<void> write_stakeholder_summary(const Profile& profile, const std::filesystem::path& path) {
  return write_file_atomically(path, to_markdown(stakeholder_document(profile)));
}

}  // namespace llmprof
