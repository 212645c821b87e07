#include <fmt/format.h>

#include "report/numbers.h"
#include "report/sections/sections.h"

namespace llmprof {
namespace {

Table statistics_table(std::string_view of) {
  Table table;
  table.columns = {
      text_column(of),           number_column("count"),    number_column("mean ± std (ms)"),
      number_column("min (ms)"), number_column("p50 (ms)"), number_column("p99 (ms)"),
      number_column("max (ms)")};
  return table;
}

void add_row(Table& table, std::string name, const Statistics& statistics) {
  if (statistics.count == 0) return;
  table.rows.push_back({std::move(name), grouped(statistics.count), mean_and_std(statistics),
                        ms(statistics.min), ms(statistics.p50), ms(statistics.p99),
                        ms(statistics.max)});
}

Table found_table(const Reported& reported) {
  Table table;
  table.columns = {text_column("stage"),
                   text_column("source"),
                   text_column("found by"),
                   number_column("instances"),
                   number_column("of them warm-up"),
                   number_column("steps without warm-up")};
  for (size_t i = 0; i < reported.stages.size(); ++i) {
    const Stage& stage = reported.stages[i];
    const StageFacts& facts = reported.facts.stages[i];
    table.rows.push_back({stage.name, std::string(to_string(stage.source)), stage.evidence,
                          grouped(facts.instances), grouped(facts.warmups),
                          facts.steps == 0 ? std::string(kMissing) : grouped(facts.steps)});
  }
  return table;
}

Table work_table(const Reported& reported) {
  Table table;
  table.columns = {text_column("stage"),
                   number_column("wall (ms)"),
                   number_column("GPU busy (ms)"),
                   number_column("busy share of wall"),
                   number_column("kernel sum (ms)"),
                   number_column("kernels"),
                   number_column("share of all stages' wall")};
  for (size_t i = 0; i < reported.stages.size(); ++i) {
    const Stage& stage = reported.stages[i];
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
  for (const StageNote& note : reported.profile.stages.notes) {
    lines.push_back(fmt::format("{} holds {}: {}, {} ms of kernel time in {}.",
                                reported.stages[note.stage].name, note.name,
                                counted(note.instances, "range"), ms(note.kernel_sum),
                                counted(note.kernel_count, "kernel")));
  }
  return lines;
}

Table batch_table(const Reported& reported) {
  Table table = statistics_table("batch (sequences)");
  table.columns.push_back(number_column("tokens a second"));
  for (const BatchTime& row : reported.profile.stages.by_batch) {
    if (row.step_wall.count == 0) continue;
    add_row(table, grouped(row.batch), row.step_wall);
    table.rows.back().push_back(rate(tokens_per_second(row)));
  }
  return table;
}

}  // namespace

std::string coverage_sentence(const Reported& reported) {
  const Coverage& coverage = reported.profile.stages.coverage;
  return fmt::format(
      "Coverage: stages hold {} of {} kernels ({}) and {} of {} ms of kernel time ({}).",
      grouped(coverage.kernels_in_stages), grouped(coverage.kernels),
      percent(reported.facts.kernels_in_stages), ms(coverage.time_in_stages), ms(coverage.time),
      percent(reported.facts.time_in_stages));
}

void add_stage_timings(const Reported& reported, Document& document) {
  const Stages& stages = reported.profile.stages;
  document.add(Heading{2, "Per-stage timings"});
  if (stages.stages.empty()) {
    document.add(Paragraph{"No stages: " + why_no_stages(reported.profile)});
    return;
  }
  Table timings = statistics_table("stage");
  for (const Stage& stage : stages.stages) add_row(timings, stage.name, stage.wall);
  document.add(
      Paragraph{"Wall time of one instance, warm-ups left out; percentiles by nearest rank."});
  document.add(std::move(timings));
  document.add(Paragraph{
      "The same instances on the GPU, means: busy counts overlapping work once (kernels, copies, "
      "graph replays), the kernel sum counts it in full."});
  document.add(work_table(reported));
  if (auto lines = note_lines(reported); !lines.empty()) document.add(BulletList{std::move(lines)});
  std::string found;
  if (!stages.reason.empty()) found = "How they were found: " + clause(stages.reason) + " ";
  if (stages.confidence) found += fmt::format("Sure to {}. ", percent(*stages.confidence));
  document.add(Paragraph{found + coverage_sentence(reported)});
  document.add(found_table(reported));
}

void add_token_times(const Reported& reported, Document& document) {
  const Stages& stages = reported.profile.stages;
  document.add(Heading{2, "Steps and tokens"});
  Table table = statistics_table("time of");
  if (stages.time_to_first_token) add_row(table, "first token", *stages.time_to_first_token);
  if (stages.time_per_output_token) {
    add_row(table, "output token (a decode's wall over its steps)", *stages.time_per_output_token);
  }
  for (const Stage& stage : stages.stages) {
    add_row(table, "step of " + stage.name, stage.step_wall);
  }
  if (table.rows.empty()) {
    document.add(Paragraph{
        "No steps: they are found where NVTX ranges named decode_step, an engine's annotations or "
        "a repeating kernel sequence show them."});
    return;
  }
  document.add(std::move(table));
  document.add(Paragraph{
      "A step's wall time runs from the end of the previous step's last GPU work to the end of its "
      "own."});
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

}  // namespace llmprof
