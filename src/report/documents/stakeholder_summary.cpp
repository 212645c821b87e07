#include "report/documents/documents.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

#include "base/files.h"
#include "report/format/figures.h"
#include "report/format/request_words.h"
#include "report/format/words.h"
#include "report/plots/plots.h"
#include "report/sections/sections.h"
#include "report/writers/writers.h"

namespace llmprof::report {
namespace {

constexpr size_t kShownRows = 10;

std::string not_available(const std::string& reason) { return "Not available because " + reason; }

void add_environment(const Profile& profile, Document& document) {
  Table facts = table_of("what | value");
  // Skips unknown values.
  const auto add = [&](std::string_view what, const std::optional<std::string>& value) {
    if (value && !value->empty()) facts.add(what, *value);
  };
  for (const DeviceTotals& device : profile.totals.devices) {
    add(device_word(profile),
        device.name ? fmt::format("{} ({})", *device.name, device.device) : device.device);
  }
  for (const Capture& capture : profile.context.captures) {
    add("capture", capture_words(capture));
    add("driver", capture.driver);
    add("CUDA", capture.cuda);
  }
  if (!on_cpu(profile)) add("engine", engine_words(profile));
  if (profile.model) {
    add("model", profile.model->name);
    add("parameters", text_of(plain(profile.model->params)));
    add("weights", profile.model->weights_dtype);
  } else {
    add("model", "not given (--model)");
  }
  if (profile.stages_found.confidence) {
    add("stages", fmt::format("detected in the kernel sequence, {}: {}", confidence_words(profile),
                              clause(profile.stages_found.reason.value_or(""))));
  }
  for (const TokenCount& count : token_counts(profile.workload)) {
    if (!count.value || profile.stages.empty()) continue;
    add(count.what,
        fmt::format("{}{}", grouped(*count.value), count.source == kAssumed ? " (assumed)" : ""));
  }
  document.heading(2, "Environment");
  document.add(std::move(facts));
}

void add_aggregates(const Profile& profile, Document& document) {
  document.heading(2, "Aggregates");
  const bool unprofiled = profile.stage1 || (profile.requests && profile.requests->unrecorded);
  Table table = table_of("metric | #unprofiled | #this capture | #capture over unprofiled",
                         map_stage1_metrics_to_stats(profile), [](const AggregateRow& row) {
                           return cells(row.metric, row.unprofiled, row.captured,
                                        row.captured_over_unprofiled);
                         });
  document.add(
      table.show_if(unprofiled, "unprofiled").show_if(unprofiled, "capture over unprofiled"));
  document.paragraph(measured_words(profile));
  document.paragraph(overhead_words(profile));
  document.paragraph(collector_overhead_words(profile));
  if (unprofiled) return;
  document.paragraph(
      "Unprofiled timings are missing: the inputs contain no metrics.json of the workload "
      "(`llmprof run` records one).");
}

void add_stage_timings_table(const Profile& profile, Document& document) {
  if (!document.begin(2, "Per-Stage Timings", profile.stages.empty(),
                      not_available(why_no_stages(profile))))
    return;
  Table table = table_of(
      fmt::format("stage | #{}s measured | #wall, mean ± std (ms) | #p50 (ms) | #min to max (ms) | "
                  "#share of all stages' wall time | #busy share of wall time | #steps",
                  instance_name(profile, "instance")),
      profile.stages, [](const Stage& stage) {
        const StageShown& shown = stage.shown;
        return cells(stage.name, grouped(shown.wall.count), mean_and_std(shown.wall),
                     ms(shown.wall.p50), range_ms(shown.wall), percent(shown.share_of_stage_time),
                     percent(shown.gpu_busy_share_of_wall), step_count_cell(stage));
      });
  document.add(table.show_if(!is_serving(profile), "steps"));
  BulletList notes;
  for (const StageNote& note : profile.stage_notes) {
    notes.items.push_back(fmt::format("{}, inside {}: {} ms of kernel time in {}.", note.name,
                                      note.stage, ms(note.gpu_sum),
                                      counted(note.kernel_count, "kernel")));
  }
  document.add(std::move(notes));
}

std::optional<Share> unprofiled_mfu(const Profile& profile, std::string_view stage) {
  if (!profile.stage1) return std::nullopt;
  const auto own = std::ranges::find(profile.stage1->stages, stage, &Stage1Stage::name);
  return own == profile.stage1->stages.end() ? std::nullopt : own->mfu;
}

// Why stages have no figure, each reason once.
std::vector<std::string> missing_figures(const Profile& profile) {
  std::vector<std::string> lines;
  const auto& for_all = profile.utilization.why_not;
  if (for_all) lines.push_back("Not available because " + clause(*for_all));
  for (const Stage& stage : profile.stages) {
    if (!stage.why_not || stage.why_not == for_all) continue;
    lines.push_back(
        fmt::format("{}: not available because {}", stage.name, clause(*stage.why_not)));
  }
  return lines;
}

std::string mfu_words(const Profile& profile) {
  const bool cpu = on_cpu(profile);
  const bool by_model = profile.model || !cpu;
  return fmt::format(
      "MFU: FLOPs of {0} over what the {2}'s {3} peak could compute in that time. MBU: {1} bytes "
      "over what its {4} memory bandwidth could move. On wall time, and on the time the {2} was "
      "busy.",
      by_model ? "the model" : "the recorded operators", by_model ? "the model's" : "their",
      device_word(profile), cpu ? "measured" : "dense", cpu ? "measured" : "peak");
}

void add_mfu(const Profile& profile, Document& document) {
  const bool unprofiled =
      profile.stage1 && std::ranges::any_of(profile.stage1->stages, [](const auto& stage) {
        return stage.mfu.has_value();
      });
  const bool none = std::ranges::none_of(profile.stages, [&](const auto& stage) {
    return unprofiled || stage.shown.mfu.wall || stage.shown.mbu.wall;
  });
  if (!document.begin(2, "MFU", none, not_available(why_no_utilization(profile)))) return;
  Table table = use_table(
      "stage | #MFU on wall | #MFU on busy | #MBU on wall | #MBU on busy | bound by | #lower bound "
      "(ms)",
      profile);
  if (unprofiled) {
    table.columns.push_back({"MFU, unprofiled", Column::Kind::number});
    for (Row& row : table.rows) {
      row.emplace_back(percent(unprofiled_mfu(profile, std::get<std::string>(row.front()))));
    }
  }
  document.add(std::move(table));
  document.paragraph(mfu_words(profile));
  document.add(BulletList{missing_figures(profile)});
}

void add_takeaways(const Profile& profile, Document& document) {
  if (!document.begin(2, "Stage Takeaways", profile.stages.empty(),
                      not_available("there are no stages (see the per-stage timings).")))
    return;
  document.add(table_of(
      "stage | what the numbers mean", heuristic_msgs(profile),
      [](const StageTakeaway& takeaway) { return cells(takeaway.stage, takeaway.message); }));
}

void add_top_operators(const Profile& profile, Document& document) {
  if (!document.begin(2, "Top Operators", profile.operators.empty(),
                      not_available(why_no_operators(profile))))
    return;
  document.add(operator_table(profile, kShownRows));
}

void add_top_kernel_table(const Profile& profile, Document& document) {
  if (!document.begin(2, "Top Kernels", profile.kernels_all_devices.empty(),
                      not_available("the capture holds no kernel.")))
    return;
  const auto& measured = profile.measured_kernels_all_devices;
  document.add(
      table_of(fmt::format("kernel | class | #total_ms | #share of {} | #calls | #mean_ms | device",
                           measured.empty() ? "kernel time" : "the measured stages' kernel time"),
               measured.empty() ? profile.kernels_all_devices : measured,
               [&](const KernelOnAllDevices& kernel) {
                 const Kernel* ranked = find_kernel(profile, kernel.kernel_name);
                 return cells(kernel.short_name,
                              ranked == nullptr ? kMissing : look_of(ranked->kernel_class).shown,
                              exact_ms(kernel.total), percent(kernel.share), grouped(kernel.calls),
                              exact_ms(kernel.mean), kernel.devices);
               }));
}

void add_recommendations(const Profile& profile, Document& document) {
  const auto& findings = profile.findings;
  const auto& hidden = profile.totals.hidden_graphs;
  const bool none = findings.empty() && !hidden;
  const std::string why = not_available(why_no_findings(profile));
  if (!document.begin(2, "Recommendations", none, why)) return;
  Table table = table_of(
      "what was found | what to do | stage | # | per | #share of the stage's wall time", findings,
      [](const Finding& finding) {
        return cells(finding.title, finding.advice, or_missing(finding.stage), ms(finding.saving),
                     per_unit(finding),
                     percent(finding.stage ? std::optional(finding.share_of_wall) : std::nullopt));
      },
      kShownRows);
  const std::string unit = per_unit(profile);
  const bool mixed = unit.empty() && std::ranges::any_of(findings, [](const Finding& each) {
                       return each.unit.has_value();
                     });
  table.columns[3].title =
      mixed ? "potential saving, up to (ms)"
            : fmt::format("potential saving, up to (ms {})", unit.empty() ? "per instance" : unit);
  if (hidden && (findings.empty() || findings.front().kind != FindingKind::hidden_graphs)) {
    table.rows.insert(
        table.rows.begin(),
        cells(fmt::format("{} of the GPU time is in CUDA graphs whose kernels were not recorded",
                          percent(hidden->share_of_gpu_time)),
              "Record again with nsys profile --cuda-graph-trace=node first: the rows below "
              "cover only the other kernels.",
              kMissing, kMissing, kMissing, kMissing));
  }
  document.add(std::move(table.show_if(mixed, "per")));
  const bool floors = std::ranges::any_of(findings, [](const auto& finding) {
    using enum FindingKind;
    return finding.kind == gemm_above_floor || finding.kind == gemv_above_floor ||
           finding.kind == attention_above_floor;
  });
  document.paragraph(
      "Sorted by the potential saving over the whole capture, largest first. Savings overlap, so "
      "they do not add up.{}",
      floors ? " A floor is the least time that the work could take on this hardware." : "");
}

struct Aggregates {
  std::vector<AggregateRow> rows = {};

  // Skips what neither side knows.
  void add(std::string metric, Cell captured, Figure unprofiled = {}, Figure ratio = {}) {
    if (text_of(captured) == kMissing && !unprofiled.value) return;
    rows.push_back({std::move(metric), unprofiled, std::move(captured), ratio});
  }

  void add_times(const std::string& metric, const std::optional<ShownTimes>& times) {
    if (!times) return;
    if (is_spread(*times)) return add(metric + ", min to max (ms)", range_ms(*times));
    add(metric + ", mean ± std (ms)", mean_and_std(*times));
  }
};

void add_token_times(const Profile& profile, Aggregates& all) {
  const TokenTimesShown& tokens = shown_tokens(profile);
  const auto& token = tokens.time_per_output_token;
  all.add("request: mean prefill plus mean decode (ms)", ms(tokens.typical_request));
  all.add_times("time to first token", tokens.time_to_first_token);
  const std::string per_token =
      is_serving(profile) ? "engine step of decode" : "time per output token";
  if (token && token->typical == Typical::median) {
    all.add(per_token + ", median (ms)", ms(token->p50));
  }
  all.add_times(per_token, token);
  const bool serving = is_serving(profile);
  const OutputRates rates = tokens.output_rates.value_or(OutputRates{});
  all.add(token && is_spread(*token) && !serving
              ? "tokens per second per sequence, from the mean time per output token"
              : "tokens per second per sequence",
          in_unit(rates.per_sequence));
  all.add(serving ? "tokens per second, all sequences" : "tokens per second, whole batch",
          in_unit(rates.all_sequences),
          in_unit(profile.stage1 ? profile.stage1->tokens_per_s : std::nullopt));
}

// The parts that make the slowest tokens slow.
void add_request_tail(const Requests& requests, Aggregates& all) {
  const RequestTail* tail = headline_tail(requests);
  if (tail == nullptr) return;
  const std::string slowest =
      tail->figure == RequestFigure::itl ? "slowest tokens" : "slowest first tokens";
  all.add(slowest + ", number", grouped(tail->count));
  all.add(slowest + ", from (ms)", figure_ms(tail->figure, tail->above));
  for (const TailPart& part : tail->parts) {
    if (part.more.value <= 0) break;
    all.add(fmt::format("{}: more time for {} than in median ones (ms)", slowest,
                        look_of(part.part).plain),
            ms(part.more));
  }
  if (tail->most_delayed_by) {
    all.add(slowest + ": request that delays them most", Cell(*tail->most_delayed_by));
  }
}

// What the client saw; the recorded load beside it if there was one without a recorder.
void add_requests(const Requests& requests, Aggregates& all) {
  for (const RequestFigureTimes& each : figure_times(requests)) {
    const auto add = [&](std::string_view what, const auto& member) {
      const std::string metric = fmt::format("{}, {} (ms)", in_words(each.figure), what);
      all.add(metric, figure_ms(each.figure, member(*each.recorded)),
              each.alone == nullptr ? Figure() : figure_ms(each.figure, member(*each.alone)));
    };
    add("median", [](const RequestTimes& times) { return times.p50; });
    add("p99", [](const RequestTimes& times) { return times.p99; });
  }
  all.add("completed requests", grouped(requests.completed),
          requests.unrecorded ? grouped(requests.unrecorded->completed) : Figure());
  const RequestLoad* alone = requests.unrecorded ? &requests.unrecorded->load : nullptr;
  all.add("completed requests per second", per_second(requests.load.completed_rate),
          alone == nullptr ? Figure() : per_second(alone->completed_rate));
  all.add("goodput: requests per second that meet all objectives",
          per_second(requests.load.goodput),
          alone == nullptr ? Figure() : per_second(alone->goodput));
  add_request_tail(requests, all);
}

void add_kernel_totals(const Profile& profile, Aggregates& all) {
  if (const auto& bounds = profile.roofline.share_of_kernel_time) {
    all.add("kernel time bound by memory, share", percent(bounds->memory));
    all.add("kernel time bound by compute, share", percent(bounds->compute));
    if (latency_is_known(profile.roofline)) {
      all.add("kernel time bound by latency, share", percent(bounds->latency));
    }
    all.add("kernel time with unknown bound, share", percent(bounds->unknown));
  }
  const Totals& totals = profile.totals;
  if (totals.gpu_count > 1) all.add(on_cpu(profile) ? "CPUs" : "GPUs", grouped(totals.gpu_count));
  all.add("kernels", grouped(totals.kernel_count));
  all.add("kernel time (ms)", ms(totals.kernel_sum));
  if (!profile.stages.empty()) {
    all.add("kernel time inside stages, share", percent(covered_share(profile)));
  }
  if (totals.hidden_graphs) {
    all.add("GPU time in CUDA graphs whose kernels were not recorded, share",
            percent(totals.hidden_graphs->share_of_gpu_time));
  }
}

}  // namespace

Table use_table(std::string_view titles, const Profile& profile) {
  return table_of(titles, profile.stages, [](const Stage& stage) {
    const StageShown& shown = stage.shown;
    return cells(stage.name, percent(shown.mfu.wall), percent(shown.mfu.gpu_busy),
                 percent(shown.mbu.wall), percent(shown.mbu.gpu_busy), bound_words(stage),
                 ms(shown.floor));
  });
}

Document stakeholder_document(const Profile& profile) {
  Document document;
  document.heading(1, "Stakeholder summary");
  add_damage(profile, document);
  add_selection(profile, document);
  add_section(Topic<"failed captures">(), profile, document);
  document.heading(2, "Executive Summary");
  document.paragraph(joined(texts_of(executive_summary(profile)), " "));
  add_environment(profile, document);
  add_aggregates(profile, document);
  add_plot(requests_plot(profile), document);
  add_plot(request_tails_plot(profile), document);
  add_stage_timings_table(profile, document);
  add_plot(budget_plot(profile), document);
  add_plot(steps_plot(profile), document);
  add_mfu(profile, document);
  add_plot(roofline_plot(profile), document);
  add_takeaways(profile, document);
  add_top_operators(profile, document);
  add_top_kernel_table(profile, document);
  add_plot(top_kernels_plot(profile), document);
  add_recommendations(profile, document);
  return document;
}

Result<void> write_stakeholder_summary(const Profile& profile, const std::filesystem::path& path) {
  return write_file_atomically(path, to_markdown(stakeholder_document(profile)));
}

std::vector<AggregateRow> map_stage1_metrics_to_stats(const Profile& profile) {
  Aggregates all;
  if (profile.stage1) {
    for (const Stage1Stage& stage : profile.stage1->stages) {
      if (!stage.mean) continue;
      all.add(stage.name + " (ms)", ms(stage.captured_mean), mean_and_std(stage.mean, stage.std),
              ratio(stage.captured_over_stage1));
    }
  }
  if (profile.requests) add_requests(*profile.requests, all);
  add_token_times(profile, all);
  if (profile.stage1) {
    all.add("MFU of the whole model", Figure(), percent(profile.stage1->mfu_model_level));
  }
  all.add(fmt::format("{} busy, share of all stages' wall time", device_word(profile)),
          percent(shown_tokens(profile).gpu_busy_share_of_wall));
  add_kernel_totals(profile, all);
  return std::move(all.rows);
}

}  // namespace llmprof::report
