#include <fmt/format.h>

#include "report/format/figures.h"
#include "report/format/words.h"
#include "report/sections/section_words.h"
#include "report/sections/sections.h"

namespace llmprof::report {
namespace {

Table statistics_table(std::string_view of) {
  return table_of(fmt::format(
      "{} | #count | #mean ± std (ms) | #min (ms) | #p50 (ms) | #p99 (ms) | #max (ms)", of));
}

void add_row(Table& table, Cell name, const profile::Statistics<profile::Milliseconds>& times) {
  if (times.count == 0) return;
  table.rows.push_back({std::move(name), grouped(times.count), mean_and_std(times), ms(times.min),
                        ms(times.p50), ms(times.p99), ms(times.max)});
}

Table found_table(const profile::Profile& profile) {
  Table table = table_of(
      fmt::format("stage | source | found by | #{}s | #warm-up (excluded) | #steps, warm-up "
                  "excluded",
                  instance_name(profile, "instance")),
      profile.stages, [](const profile::Stage& stage) {
        return cells(stage.name, spelled(stage.source), stage.evidence.value_or(""),
                     grouped(stage.instance_count), grouped(stage.warmup_count),
                     step_count_cell(stage));
      });
  return table.show_if(!is_serving(profile), "steps, warm-up excluded");
}

Table work_table(const profile::Profile& profile) {
  return table_of(
      fmt::format("stage | #wall (ms) | #{} busy (ms) | #busy share of wall | #kernel sum (ms) | "
                  "#kernels | #share of all stages' wall",
                  device_word(profile)),
      profile.stages, [](const profile::Stage& stage) {
        if (stage.wall.count == 0) return Row();
        return cells(stage.name, ms(stage.shown.wall.mean), ms(stage.gpu_busy.mean),
                     percent(stage.shown.gpu_busy_share_of_wall), ms(stage.gpu_sum.mean),
                     plain(stage.kernel_count.mean), percent(stage.shown.share_of_stage_time));
      });
}

std::string note_line(const profile::Profile& profile, const profile::StageNote& note) {
  // A detected pass is between the passes of the language model, not inside them.
  const profile::Stage* stage = find_stage(profile, note.stage);
  const bool detected = stage != nullptr && stage->source == profile::StageSource::detected;
  if (detected) {
    return fmt::format(
        "{} (for {}, outside of its figures): {}, {} ms of kernel time in {}, {} ms from the first "
        "to the last.",
        note.name, note.stage, counted(note.instances, "detected pass", "detected passes"),
        ms(note.gpu_sum), counted(note.kernel_count, "kernel"), ms(note.range));
  }
  return fmt::format("{} holds {}: {}, {} ms of kernel time in {}.", note.stage, note.name,
                     counted(note.instances, "range"), ms(note.gpu_sum),
                     counted(note.kernel_count, "kernel"));
}

// If each instance is one pass, the table already has its time as a token time.
bool is_time_of_tokens(const profile::Profile& profile, const profile::Stage& stage) {
  if (stage.step_count != stage.wall.count) return false;
  if (stage.name == "prefill") return profile.token_times.time_to_first_token.has_value();
  return stage.name == "decode" && profile.token_times.time_per_output_token.has_value();
}

void add_stage1(const profile::Stage1& stage1, Document& document) {
  document.add(Heading{3, "Unprofiled, measured by the workload itself"});
  document.add(table_of(
      "stage | #unprofiled, mean ± std (ms) | #this capture (ms) | #capture over unprofiled",
      stage1.stages, [](const profile::Stage1Stage& stage) {
        if (!stage.mean) return Row();
        return cells(stage.name, mean_and_std(stage.mean, stage.std), ms(stage.captured_mean),
                     ratio(stage.captured_over_stage1));
      }));
  document.add(
      Paragraph{"The capture's times include profiling overhead; users see the unprofiled times."});
}

// Times that an engine's requests saw, if known.
void add_served(const profile::Profile& profile, Document& document) {
  if (profile.token_times.served.empty()) return;
  document.add(Heading{3, "Requests"});
  document.add(table_of(
      "#from (ms) | #for (ms) | #prompts | #time per prompt, mean (ms) | #tokens after the first | "
      "#time per token, mean (ms) | #sequences per batch, mean | #at most | #batches | #passes",
      profile.token_times.served, [](const profile::ServedWindow& window) {
        return cells(ms(window.start), ms(window.span), grouped(window.prompts), ms(window.prompt),
                     grouped(window.tokens), ms(window.token), plain(window.sequences_mean),
                     grouped(window.sequences_max), grouped(window.batches),
                     grouped(window.passes));
      }));
  document.add(
      Paragraph{"Times as the engine sees them, including tracing overhead. A batch gives each of "
                "its sequences one token. It may take several passes, and ends when the host waits "
                "for the results. Time per token runs from the previous batch, including cache "
                "transfers. Time per prompt starts when the host can work on it and ends when its "
                "first token is chosen, without queue time."});
}

void add_batches(const profile::Profile& profile, Document& document) {
  Table table = statistics_table("batch (sequences)");
  table.columns.push_back({"tokens per second", Column::Kind::number});
  for (const profile::BatchTimes& row : shown_tokens(profile).by_batch) {
    if (row.step_wall.count == 0) continue;
    add_row(table, grouped(row.batch), row.step_wall);
    table.rows.back().emplace_back(in_unit(row.tokens_per_s));
  }
  if (table.rows.empty()) return;
  document.add(Heading{3, "Decode steps by batch"});
  document.add(std::move(table));
}

}  // namespace

std::string coverage_sentence(const profile::Profile& profile) {
  if (!profile.coverage) return {};
  const profile::Coverage& coverage = *profile.coverage;
  // A profile of an earlier llmprof does not separate initialization from work.
  if (coverage.work_kernels == 0) {
    return fmt::format("Coverage: stages hold {} of {} ({}) and {} of {} ms of kernel time ({}).",
                       grouped(coverage.kernels_in_stages), counted(coverage.kernels, "kernel"),
                       percent(coverage.kernels_share), ms(coverage.kernel_sum_in_stages),
                       ms(coverage.kernel_sum), percent(coverage.kernel_sum_share));
  }
  const std::string before = coverage.initialization_kernels == 0
                                 ? std::string()
                                 : fmt::format(" after initialization ({}, {} ms)",
                                               counted(coverage.initialization_kernels, "kernel"),
                                               ms(coverage.initialization_sum));
  return fmt::format("Coverage: stages hold {} of {} ({}) and {} of {} ms of kernel time ({}){}.",
                     grouped(coverage.kernels_in_stages), counted(coverage.work_kernels, "kernel"),
                     percent(coverage.work_kernels_share), ms(coverage.kernel_sum_in_stages),
                     ms(coverage.work_sum), percent(coverage.work_sum_share), before);
}

void add_section(Topic<"stages"> /*topic*/, const Profile& profile, Document& document) {
  const std::string missing = profile.stages.empty() ? no_stages_words(profile) : "";
  if (!document.begin(2, "Per-stage timings", missing)) return;
  const std::string instance = instance_name(profile, "instance");
  Table timings = statistics_table("stage");
  for (const profile::Stage& stage : profile.stages) add_row(timings, stage.name, stage.shown.wall);
  document.add(Paragraph{
      fmt::format("Wall time per {}, excluding warm-up; percentiles by nearest rank.", instance)});
  document.add(std::move(timings));
  document.add(Paragraph{
      fmt::format("Means of the same {}s on the {}. Busy time counts overlapping work ({}) once, "
                  "the kernel sum counts it in full.",
                  instance, device_word(profile),
                  on_cpu(profile) ? "recorded operators, which count as the CPU's kernels"
                                  : "kernels, copies, graph replays")});
  document.add(work_table(profile));
  document.add(BulletList{left_out_words(profile)});
  add_tracing_notes(profile, document);
  BulletList notes;
  for (const profile::StageNote& note : profile.stage_notes) {
    notes.items.push_back(note_line(profile, note));
  }
  document.add(std::move(notes));
  std::string found;
  if (const auto& reason = profile.stages_found.reason) {
    found = "How the stages were found: " + clause(*reason) + " ";
  }
  document.add(Paragraph{found + guess_sentence(profile) + coverage_sentence(profile)});
  document.add(found_table(profile));
  if (profile.stage1 && !profile.stage1->stages.empty()) add_stage1(*profile.stage1, document);
}

void add_section(Topic<"token times"> /*topic*/, const Profile& profile, Document& document) {
  const profile::TokenTimesShown& times = shown_tokens(profile);
  Table table = statistics_table("time of");
  if (times.time_to_first_token) add_row(table, "first token", *times.time_to_first_token);
  if (times.time_per_output_token) {
    add_row(table,
            is_serving(profile) ? "output token (an engine step of decode)"
                                : "output token (a decode's wall time over its steps)",
            *times.time_per_output_token);
  }
  for (const profile::Stage& stage : profile.stages) {
    const auto& steps = stage.shown.step_wall;
    if (steps && !is_time_of_tokens(profile, stage))
      add_row(table, "step of " + stage.name, *steps);
  }
  if (!document.begin(2, has_tokens(profile) ? "Steps and tokens" : "Steps",
                      table.rows.empty() ? "Not known: " + why_no_steps(profile) : "")) {
    return;
  }
  document.add(std::move(table));
  document.add(Paragraph{
      fmt::format("A step's wall time runs from the end of the previous step's last {} to the end "
                  "of its own.",
                  on_cpu(profile) ? "operator" : "GPU work")});
  if (times.tokens_per_s_per_sequence) {
    std::string text = fmt::format("Decode generates {} tokens per second per sequence",
                                   in_unit(times.tokens_per_s_per_sequence));
    if (profile.workload.batch.value_or(1) > 1) {
      text += fmt::format(", {} for the whole batch", in_unit(times.tokens_per_s));
    }
    if (times.time_per_output_token && is_spread(*times.time_per_output_token)) {
      text += " (from the mean time per output token)";
    }
    document.add(Paragraph{text + "."});
  }
  add_served(profile, document);
  add_batches(profile, document);
}

}  // namespace llmprof::report
