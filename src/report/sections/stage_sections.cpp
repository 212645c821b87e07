#include <fmt/format.h>

#include "report/format/figures.h"
#include "report/format/request_words.h"
#include "report/format/words.h"
#include "report/sections/sections.h"

namespace llmprof::report {
namespace {

Table statistics_table(std::string_view of) {
  return table_of(fmt::format(
      "{} | #count | #mean ± std (ms) | #min (ms) | #p50 (ms) | #p99 (ms) | #max (ms)", of));
}

void add_row(Table& table, Cell name, const Statistics<Milliseconds>& times) {
  if (times.count == 0) return;
  table.add(std::move(name), grouped(times.count), mean_and_std(times), ms(times.min),
            ms(times.p50), ms(times.p99), ms(times.max));
}

Table found_table(const Profile& profile) {
  Table table = table_of(
      fmt::format(
          "stage | source | found by | #{}s | #warm-up (excluded) | #steps, warm-up excluded",
          instance_name(profile, "instance")),
      profile.stages, [](const Stage& stage) {
        return cells(stage.name, spelled(stage.source), stage.evidence.value_or(""),
                     grouped(stage.instance_count), grouped(stage.warmup_count),
                     step_count_cell(stage));
      });
  return table.show_if(!is_serving(profile), "steps, warm-up excluded");
}

Table work_table(const Profile& profile) {
  return table_of(fmt::format("stage | #wall (ms) | #{} busy (ms) | #busy share of wall | #kernel "
                              "sum (ms) | #kernels | #share of all stages' wall",
                              device_word(profile)),
                  profile.stages, [](const Stage& stage) {
                    if (stage.wall.count == 0) return Row();
                    return cells(stage.name, ms(stage.shown.wall.mean), ms(stage.gpu_busy.mean),
                                 percent(stage.shown.gpu_busy_share_of_wall),
                                 ms(stage.gpu_sum.mean), plain(stage.kernel_count.mean),
                                 percent(stage.shown.share_of_stage_time));
                  });
}

std::string note_line(const Profile& profile, const StageNote& note) {
  // A detected pass is between the passes of the language model, not inside them.
  const Stage* stage = find_stage(profile, note.stage);
  const bool detected = stage != nullptr && stage->source == StageSource::detected;
  if (detected) {
    return fmt::format(
        "{} (for {}, excluded from its figures): {}, {} ms of kernel time in {}; {} ms from the "
        "first to the last kernel.",
        note.name, note.stage, counted(note.instances, "detected pass"), ms(note.gpu_sum),
        counted(note.kernel_count, "kernel"), ms(note.range));
  }
  return fmt::format("{} holds {}: {}, {} ms of kernel time in {}.", note.stage, note.name,
                     counted(note.instances, "range"), ms(note.gpu_sum),
                     counted(note.kernel_count, "kernel"));
}

// If each instance is one pass, the table already has its time as a token time.
bool is_time_of_tokens(const Profile& profile, const Stage& stage) {
  if (stage.step_count != stage.wall.count) return false;
  if (stage.name == kPrefill) return profile.token_times.time_to_first_token.has_value();
  return stage.name == kDecode && profile.token_times.time_per_output_token.has_value();
}

void add_stage1(const Stage1& stage1, Document& document) {
  document.heading(3, "Unprofiled, measured by the workload itself");
  document.add(table_of(
      "stage | #unprofiled, mean ± std (ms) | #this capture (ms) | #capture over unprofiled",
      stage1.stages, [](const Stage1Stage& stage) {
        if (!stage.mean) return Row();
        return cells(stage.name, mean_and_std(stage.mean, stage.std), ms(stage.captured_mean),
                     ratio(stage.captured_over_stage1));
      }));
  document.paragraph(
      "The capture's times include profiling overhead; users see the unprofiled times.");
}

// Times that an engine's requests saw, if known.
void add_served(const Profile& profile, Document& document) {
  const auto& windows = profile.token_times.served;
  if (windows.empty() || windows.front().source == profile::ServedBy::requests) return;
  document.heading(3, "Requests");
  document.add(
      table_of("#start (ms) | #duration (ms) | #prompts | #time per prompt, mean (ms) | #tokens "
               "after the first | "
               "#time per token, mean (ms) | #sequences per batch, mean | #sequences per batch, "
               "largest | #batches | #passes",
               profile.token_times.served, [](const ServedWindow& window) {
                 return cells(ms(window.start), ms(window.span), grouped(window.prompts),
                              ms(window.prompt), grouped(window.tokens), ms(window.token),
                              plain(window.sequences_mean), grouped(window.sequences_max),
                              grouped(window.batches), grouped(window.passes));
               }));
  document.paragraph(
      "Times as the engine sees them, including tracing overhead. A batch gives each of its "
      "sequences one token. It may take several passes, and ends when the host waits for the "
      "results. Time per token runs from the previous batch, including cache transfers. Time per "
      "prompt starts when the host can work on it and ends when its first token is chosen, without "
      "queue time.");
}

std::string rate_sentence(const Profile& profile, const TokenTimesShown& times) {
  const OutputRates rates = times.output_rates.value_or(OutputRates{});
  if (!rates.per_sequence) return {};
  const ServedWindow* window = shown_window(profile);
  if (window != nullptr && window->source == profile::ServedBy::requests) {
    return fmt::format(
        "As the client saw it, a request gets {} tokens per second, and all requests together get "
        "{}.",
        in_unit(rates.per_sequence), in_unit(rates.all_sequences));
  }
  if (is_serving(profile)) {
    return fmt::format(
        "In the window with the most tokens, a sequence gets {} tokens per second, and all "
        "sequences together get {}.",
        in_unit(rates.per_sequence), in_unit(rates.all_sequences));
  }
  std::string text = fmt::format("Decode generates {} tokens per second per sequence",
                                 in_unit(rates.per_sequence));
  if (profile.workload.batch.value_or(1) > 1) {
    text += fmt::format(", {} for the whole batch", in_unit(rates.all_sequences));
  }
  if (times.time_per_output_token && is_spread(*times.time_per_output_token)) {
    text += " (from the mean time per output token)";
  }
  return text + ".";
}

void add_batches(const Profile& profile, Document& document) {
  Table table = statistics_table("batch (sequences)");
  table.columns.push_back({"tokens per second", Column::Kind::number});
  for (const BatchTimes& row : shown_tokens(profile).by_batch) {
    if (row.step_wall.count == 0) continue;
    add_row(table, grouped(row.batch), row.step_wall);
    table.rows.back().emplace_back(in_unit(row.tokens_per_s));
  }
  if (table.rows.empty()) return;
  document.heading(3, "Decode steps by batch");
  document.add(std::move(table));
}

void add_times(const Profile& profile, std::vector<Row>& rows) {
  const TokenTimesShown& times = shown_tokens(profile);
  for (const TokenFigure& figure : times.figures) {
    if (profile.requests && figure.by_client) continue;  // above, with percentiles
    const TokenFigureWords words = token_figure_words(profile, figure);
    rows.push_back({words.name, words.text + " ms", words.of});
  }
  if (times.typical_request) {
    rows.push_back({"request", fmt::format("{} ms", ms(times.typical_request)),
                    "mean prefill plus mean decode"});
  }
  if (times.gpu_busy_share_of_wall) {
    rows.push_back({fmt::format("{} busy", device_word(profile)),
                    percent(times.gpu_busy_share_of_wall), "of the stages' wall time"});
  }
}

// What the client saw.
void add_request_figures(const Requests& requests, std::vector<Row>& rows) {
  const std::string by = "by the client" + how_recorded(requests);
  for (const RequestFigureTimes& each : figure_times(requests)) {
    const RequestTimes& times = each.headline();
    if (!times.p50) continue;
    const std::string of = fmt::format("{}, {}", counted(times.count, value_word(each.figure)), by);
    rows.push_back({fmt::format("{}, median", in_words(each.figure)),
                    fmt::format("{} ms", figure_ms(each.figure, times.p50)), of});
    rows.push_back({fmt::format("{}, p99", in_words(each.figure)),
                    fmt::format("{} ms", figure_ms(each.figure, times.p99)), of});
  }
  if (const auto& goodput = headline_load(requests).goodput) {
    rows.push_back({"goodput", fmt::format("{} requests per second", per_second(goodput)),
                    "requests that meet all objectives, " + by});
  }
}

void add_uses(const Profile& profile, std::vector<Row>& rows) {
  for (const Stage& stage : profile.stages) {
    if (!stage.shown.bound) continue;
    const bool memory = stage.shown.bound == Bound::memory;
    rows.push_back(
        {fmt::format("{} of {}", memory ? "MBU" : "MFU", stage.name),
         percent(stage.shown.use_at_bound),
         fmt::format("of {}peak {}, on wall time", on_cpu(profile) ? "the CPU's measured " : "",
                     memory ? "memory bandwidth" : "FLOP/s")});
  }
}

}  // namespace

std::string coverage_sentence(const Profile& profile) {
  if (!profile.coverage) return {};
  const Coverage& coverage = *profile.coverage;
  // A profile of an earlier llmprof does not separate initialization from work.
  const bool separate = coverage.work_kernels > 0;
  const std::string before = !separate || coverage.initialization_kernels == 0
                                 ? std::string()
                                 : fmt::format(" after initialization ({}, {} ms)",
                                               counted(coverage.initialization_kernels, "kernel"),
                                               ms(coverage.initialization_sum));
  return fmt::format(
      "Coverage: stages hold {} of {} ({}) and {} of {} ms of kernel time ({}){}.",
      grouped(coverage.kernels_in_stages),
      counted(separate ? coverage.work_kernels : coverage.kernels, "kernel"),
      percent(separate ? coverage.work_kernels_share : coverage.kernels_share),
      ms(coverage.kernel_sum_in_stages), ms(separate ? coverage.work_sum : coverage.kernel_sum),
      percent(separate ? coverage.work_sum_share : coverage.kernel_sum_share), before);
}

void add_section(Topic<"stages"> /*topic*/, const Profile& profile, Document& document) {
  if (!document.begin(2, "Per-stage timings", profile.stages.empty(), no_stages_words(profile)))
    return;
  const std::string instance = instance_name(profile, "instance");
  Table timings = statistics_table("stage");
  for (const Stage& stage : profile.stages) add_row(timings, stage.name, stage.shown.wall);
  document.paragraph("Wall time per {}, excluding warm-up; percentiles by nearest rank.", instance);
  document.add(std::move(timings));
  document.paragraph(
      "Means of the same {}s on the {}. Busy time counts overlapping work ({}) once, the kernel "
      "sum counts it in full.",
      instance, device_word(profile),
      on_cpu(profile) ? "recorded operators, which count as the CPU's kernels"
                      : "kernels, copies, graph replays");
  document.add(work_table(profile));
  document.add(BulletList{left_out_words(profile)});
  add_tracing_notes(profile, document);
  BulletList notes;
  for (const StageNote& note : profile.stage_notes) notes.items.push_back(note_line(profile, note));
  document.add(std::move(notes));
  std::string found;
  if (const auto& reason = profile.stages_found.reason) {
    found = "How the stages were found: " + clause(*reason) + " ";
  }
  document.paragraph(found + guess_sentence(profile) + coverage_sentence(profile));
  document.add(found_table(profile));
  if (profile.stage1 && !profile.stage1->stages.empty()) add_stage1(*profile.stage1, document);
}

void add_section(Topic<"token times"> /*topic*/, const Profile& profile, Document& document) {
  const TokenTimesShown& times = shown_tokens(profile);
  Table table = statistics_table("time of");
  if (times.time_to_first_token) add_row(table, "first token", *times.time_to_first_token);
  if (times.time_per_output_token) {
    add_row(table,
            is_serving(profile) ? "engine step of decode"
                                : "output token (a decode's wall time over its steps)",
            *times.time_per_output_token);
  }
  for (const Stage& stage : profile.stages) {
    const auto& steps = stage.shown.step_wall;
    if (steps && !is_time_of_tokens(profile, stage))
      add_row(table, "step of " + stage.name, *steps);
  }
  if (!document.begin(2, has_tokens(profile) ? "Steps and tokens" : "Steps", table.rows.empty(),
                      "Not available: " + why_no_steps(profile)))
    return;
  document.add(std::move(table));
  document.paragraph(
      "A step's wall time runs from the end of the previous step's last {} to the end of its own.",
      on_cpu(profile) ? "operator" : "GPU work");
  document.paragraph(rate_sentence(profile, times));
  add_served(profile, document);
  add_batches(profile, document);
}

void add_section(Topic<"key figures"> /*topic*/, const Profile& profile, Document& document) {
  Table table = table_of("figure | #value | of");
  if (profile.requests) add_request_figures(*profile.requests, table.rows);
  add_times(profile, table.rows);
  add_uses(profile, table.rows);
  if (const Finding* first = first_gain(profile)) {
    table.add("largest opportunity", fmt::format("up to {} ms", ms(first->saving)),
              fmt::format("{}: {}", per_unit(*first), after_colon(first->title)));
  }
  const std::string scope = fmt::format("in {}", scope_words(profile));
  table.add("kernels", grouped(profile.totals.kernel_count), scope);
  table.add("kernel time", fmt::format("{} ms", ms(profile.totals.kernel_sum)), scope);
  if (covered_share(profile) && !profile.stages.empty()) {
    table.add("coverage", percent(covered_share(profile)), "of kernel time is inside stages");
  }
  document.heading(2, "Key figures");
  document.add(std::move(table));
  document.paragraph(times_words(profile));
  document.paragraph(mean_caveats(profile));
  document.warning(hidden_graphs_sentence(profile));
}

std::string hidden_graphs_sentence(const Profile& profile) {
  if (!profile.totals.hidden_graphs) return {};
  const HiddenGraphs& hidden = *profile.totals.hidden_graphs;
  return fmt::format(
      "Kernels inside CUDA graphs are missing: {}{} ({} ms, {} of the time of kernels and graph "
      "replays) were recorded only as a whole. Record again with `nsys profile "
      "--cuda-graph-trace=node` "
      "to see their kernels.",
      counted(hidden.replays, "graph replay"),
      hidden.launched_in ? fmt::format(" launched in {}", *hidden.launched_in) : "",
      ms(hidden.total), percent(hidden.share_of_gpu_time));
}

}  // namespace llmprof::report
