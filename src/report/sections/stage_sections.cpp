#include <fmt/format.h>

#include "report/numbers.h"
#include "report/sections/sections.h"

namespace llmprof::report {
namespace {

Table statistics_table(std::string_view of) {
  Table table;
  table.columns = {
      text_column(of),           number_column("count"),    number_column("mean ± std (ms)"),
      number_column("min (ms)"), number_column("p50 (ms)"), number_column("p99 (ms)"),
      number_column("max (ms)")};
  return table;
}

void add_row(Table& table, std::string name, const analysis::Statistics& statistics) {
  if (statistics.count == 0) return;
  table.rows.push_back({std::move(name), grouped(statistics.count), mean_and_std(statistics),
                        ms(statistics.min), ms(statistics.p50), ms(statistics.p99),
                        ms(statistics.max)});
}

Table found_table(const Reported& reported) {
  Table table;
  const bool serving = reported.profile.stages.serving;
  table.columns = {text_column("stage"), text_column("source"), text_column("found by"),
                   number_column(serving ? "engine steps" : "instances"),
                   number_column("of them warm-up")};
  if (!serving) table.columns.push_back(number_column("steps without warm-up"));
  for (size_t i = 0; i < reported.stages.size(); ++i) {
    const analysis::Stage& stage = reported.stages[i];
    const StageFacts& facts = reported.facts.stages[i];
    table.rows.push_back({stage.name, std::string(analysis::to_string(stage.source)),
                          stage.evidence, grouped(facts.instances), grouped(facts.warmups)});
    if (!serving) table.rows.back().push_back(step_count_words(stage, facts));
  }
  return table;
}

Table work_table(const Reported& reported) {
  Table table;
  table.columns = {text_column("stage"),
                   number_column("wall (ms)"),
                   number_column(fmt::format("{} busy (ms)", reported.words().device)),
                   number_column("busy share of wall"),
                   number_column("kernel sum (ms)"),
                   number_column("kernels"),
                   number_column("share of all stages' wall")};
  for (size_t i = 0; i < reported.stages.size(); ++i) {
    const analysis::Stage& stage = reported.stages[i];
    const StageFacts& facts = reported.facts.stages[i];
    if (stage.wall.count == 0) continue;
    table.rows.push_back({stage.name, ms(stage.wall.mean), ms(stage.busy.mean),
                          percent(facts.busy_share), ms(stage.kernel_sum.mean),
                          plain(stage.kernel_count.mean), percent(facts.share_of_stage_time)});
  }
  return table;
}

std::vector<std::string> note_lines(const Reported& reported) {
  std::vector<std::string> lines;
  lines.reserve(reported.profile.stages.notes.size());
  for (const analysis::StageNote& note : reported.profile.stages.notes) {
    const analysis::Stage& stage = reported.stages[note.stage];
    // A detected pass lies beside the passes of the language model, not inside them.
    const bool detected = stage.source == analysis::StageSource::detected;
    lines.push_back(fmt::format(
        "{}: {}, {} ms of kernel time in {}{}.",
        detected ? fmt::format("{} (for {}, outside of its figures)", note.name, stage.name)
                 : fmt::format("{} holds {}", stage.name, note.name),
        detected ? counted(note.instances, "detected pass", "detected passes")
                 : counted(note.instances, "range"),
        ms(note.kernel_sum), counted(note.kernel_count, "kernel"),
        detected ? fmt::format(", {} ms from the first to the last", ms(note.range_time)) : ""));
  }
  return lines;
}

Table batch_table(const Reported& reported) {
  Table table = statistics_table("batch (sequences)");
  table.columns.push_back(number_column("tokens a second"));
  for (const analysis::BatchTime& row : reported.profile.stages.by_batch) {
    if (row.step_wall.count == 0) continue;
    add_row(table, grouped(row.batch), row.step_wall);
    table.rows.back().push_back(rate(tokens_per_second(row)));
  }
  return table;
}

// Where each instance is one pass, its time stands in the table as a token's already.
bool is_told_by_tokens(const analysis::Stages& stages, const analysis::Stage& stage,
                       const StageFacts& facts) {
  const bool one_each = facts.steps == stage.wall.count;
  if (stage.name == "prefill") return one_each && stages.time_to_first_token.has_value();
  return stage.name == "decode" && one_each && stages.time_per_output_token.has_value();
}

void add_stage1(const Reported& reported, Document& document) {
  document.add(Heading{3, "Unprofiled, measured by the workload itself (Stage 1)"});
  Table table;
  table.columns = {text_column("stage"), number_column("unprofiled, mean ± std (ms)"),
                   number_column("this capture (ms)"), number_column("capture over unprofiled")};
  for (const Stage1Row& row : reported.facts.stage1) {
    if (!row.mean_ms) continue;
    std::string own = fmt::format("{:.3f}", *row.mean_ms);
    if (row.std_ms) own += fmt::format(" ± {:.3f}", *row.std_ms);
    const std::string missing(kMissing);
    table.rows.push_back(
        {row.stage, std::move(own),
         row.captured_ms ? fmt::format("{:.3f}", *row.captured_ms) : missing,
         row.captured_over_stage1 ? fmt::format("{:.2f}", *row.captured_over_stage1) : missing});
  }
  document.add(std::move(table));
  document.add(Paragraph{
      "The capture's times hold what profiling costs; the unprofiled ones are what users see."});
}

}  // namespace

std::string coverage_sentence(const Reported& reported) {
  const analysis::Coverage& coverage = reported.profile.stages.coverage;
  return fmt::format(
      "Coverage: stages hold {} of {} kernels ({}) and {} of {} ms of kernel time ({}).",
      grouped(coverage.kernels_in_stages), grouped(coverage.kernels),
      percent(reported.facts.kernels_in_stages), ms(coverage.time_in_stages), ms(coverage.time),
      percent(reported.facts.time_in_stages));
}

void add_stage_timings(const Reported& reported, Document& document) {
  const analysis::Stages& stages = reported.profile.stages;
  document.add(Heading{2, "Per-stage timings"});
  if (stages.stages.empty()) {
    document.add(Paragraph{no_stages_words(reported.profile)});
    return;
  }
  Table timings = statistics_table("stage");
  for (const analysis::Stage& stage : stages.stages) add_row(timings, stage.name, stage.wall);
  document.add(
      Paragraph{fmt::format("Wall time of one {}, warm-ups left out; percentiles by nearest rank.",
                            instance_name(reported.profile, "instance"))});
  document.add(std::move(timings));
  document.add(Paragraph{
      fmt::format("The same {}s on the {}, means: busy counts overlapping work once ({}), the "
                  "kernel sum counts it in full.",
                  instance_name(reported.profile, "instance"), reported.words().device,
                  reported.profile.device == trace::DeviceKind::cpu
                      ? "recorded operators, which are a CPU's kernels"
                      : "kernels, copies, graph replays")});
  document.add(work_table(reported));
  add_tracing_notes(reported, document);
  if (auto lines = note_lines(reported); !lines.empty()) document.add(BulletList{std::move(lines)});
  std::string found;
  if (!stages.reason.empty()) found = "How they were found: " + clause(stages.reason) + " ";
  if (stages.confidence) found += fmt::format("Sure to {}. ", percent(*stages.confidence));
  document.add(Paragraph{found + coverage_sentence(reported)});
  document.add(found_table(reported));
  if (!reported.facts.stage1.empty()) add_stage1(reported, document);
}

void add_token_times(const Reported& reported, Document& document) {
  const analysis::Stages& stages = reported.profile.stages;
  document.add(Heading{2, "Steps and tokens"});
  Table table = statistics_table("time of");
  if (stages.time_to_first_token) add_row(table, "first token", *stages.time_to_first_token);
  if (stages.time_per_output_token) {
    add_row(table,
            stages.serving ? "output token (an engine step of decode)"
                           : "output token (a decode's wall over its steps)",
            *stages.time_per_output_token);
  }
  for (size_t i = 0; i < reported.stages.size(); ++i) {
    if (is_told_by_tokens(stages, reported.stages[i], reported.facts.stages[i])) continue;
    add_row(table, "step of " + reported.stages[i].name, reported.stages[i].step_wall);
  }
  if (table.rows.empty()) {
    document.add(Paragraph{
        "No steps: they are found where NVTX ranges named decode_step, an engine's annotations or "
        "a repeating kernel sequence show them."});
    return;
  }
  document.add(std::move(table));
  document.add(Paragraph{
      fmt::format("A step's wall time runs from the end of the previous step's last {} to the end "
                  "of its own.",
                  reported.profile.device == trace::DeviceKind::cpu ? "operator" : "GPU work")});
  if (reported.facts.tokens_per_s_per_sequence) {
    std::string text = fmt::format("Decoding gives {} tokens a second for each sequence",
                                   rate(reported.facts.tokens_per_s_per_sequence));
    if (const auto& batch = reported.profile.utilization.workload.batch;
        batch && batch->value > 1) {
      text += fmt::format(", {} for the whole batch", rate(reported.facts.tokens_per_s));
    }
    document.add(Paragraph{text + "."});
  }
  if (Table batches = batch_table(reported); !batches.rows.empty()) {
    document.add(Heading{3, "Decode steps by batch"});
    document.add(std::move(batches));
  }
}

}  // namespace llmprof::report
