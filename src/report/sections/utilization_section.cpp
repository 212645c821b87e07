#include <fmt/format.h>

#include <algorithm>

#include "report/format/figures.h"
#include "report/format/part_names.h"
#include "report/format/sentences.h"
#include "report/sections/reasons.h"
#include "report/sections/section_words.h"
#include "report/sections/sections.h"

namespace llmprof::report {
namespace {

bool any_cost(const profile::Profile& profile) {
  return std::any_of(profile.stages.begin(), profile.stages.end(),
                     [](const profile::Stage& stage) { return !stage.cost.empty(); });
}

Table ratio_table(const profile::Profile& profile) {
  const std::string instance = instance_name(profile, "instance");
  const std::string_view device = device_word(profile);
  Table table{{text_column("stage"), number_column("FLOPs per " + instance),
               number_column("bytes per " + instance), number_column("MFU on wall"),
               number_column(fmt::format("MFU on {} busy", device)), number_column("MBU on wall"),
               number_column(fmt::format("MBU on {} busy", device)),
               number_column("lower bound (ms)")}};
  for (const profile::Stage& stage : profile.stages) {
    if (stage.cost.empty()) continue;
    table.rows.push_back({stage.name, scaled(stage.flops), scaled(stage.bytes),
                          percent(stage.shown.mfu.wall), percent(stage.shown.mfu.gpu_busy),
                          percent(stage.shown.mbu.wall), percent(stage.shown.mbu.gpu_busy),
                          ms(known_floor(stage))});
  }
  return table;
}

// What the operators recorded, beside what the model needs.
Table recorded_table(const profile::Profile& profile) {
  const std::string_view device = device_word(profile);
  Table table{{text_column("stage"), number_column("FLOPs recorded"),
               number_column("over the model's"), number_column("bytes recorded"),
               number_column("MFU on wall"), number_column(fmt::format("MFU on {} busy", device)),
               number_column("MBU on wall"), number_column(fmt::format("MBU on {} busy", device))}};
  for (const profile::Stage& stage : profile.stages) {
    if (!stage.recorded || stage.from_operators) continue;
    const profile::RecordedWork& own = *stage.recorded;
    const auto& over = own.flops_over_model;
    table.rows.push_back({stage.name, scaled(own.flops),
                          ratio(over ? std::optional(over->value) : std::nullopt),
                          scaled(own.bytes), percent(own.mfu.wall), percent(own.mfu.gpu_busy),
                          percent(own.mbu.wall), percent(own.mbu.gpu_busy)});
  }
  return table;
}

// Operators of one class move either weights or the KV cache.
Table recorded_cost_table(const std::vector<profile::CostPart>& cost) {
  Table table{columns("operators of class | #FLOPs | #bytes")};
  for (const profile::CostPart& part : cost) {
    table.rows.push_back({std::string(shown_text(part.part)), scaled(part.flops),
                          scaled(part.kv_bytes.value > 0 ? part.kv_bytes : part.weight_bytes)});
  }
  return table;
}

Table cost_table(const std::vector<profile::CostPart>& cost) {
  Table table;
  table.columns =
      columns("part of the model | #FLOPs | #weights read | #KV cache read and written");
  for (const profile::CostPart& part : cost) {
    table.rows.push_back(
        {part.part, scaled(part.flops), scaled(part.weight_bytes), scaled(part.kv_bytes)});
  }
  return table;
}

std::string inputs_sentence(const profile::Stage& stage, std::string_view device) {
  std::string text;
  if (stage.basis) text += sentence(*stage.basis) + " ";
  text += fmt::format("Wall {} ms, {} busy {} ms.", ms(stage.shown.wall.mean), device,
                      ms(stage.gpu_busy.mean));
  if (stage.peak_flops) {
    text += fmt::format(" Peaks: {} ({}), {}.", scaled(stage.peak_flops),
                        stage.peak_name.value_or(""), scaled(stage.peak_bandwidth));
  }
  if (stage.shown.bound && stage.shown.wall_over_floor) {
    text += fmt::format(" The lower bound is set by {}; the wall time is {} times as long.",
                        stage.shown.bound == profile::Bound::memory ? "the bytes" : "the FLOPs",
                        ratio(stage.shown.wall_over_floor));
  }
  return text;
}

// Which measurement it was, where it was not this run's.
std::string origin_sentence(const profile::Profile& profile) {
  for (const profile::Cpu& cpu : profile.context.cpus) {
    std::string text;
    if (cpu.peaks_from && *cpu.peaks_from != profile::PeaksFrom::this_run &&
        cpu.peaks_measured_at) {
      text = fmt::format("They are the best that runs measured on this machine (compute: {}). ",
                         *cpu.peaks_measured_at);
    }
    if (cpu.peaks_note) {
      text += fmt::format("The measurement of this run was disturbed: {}. ", *cpu.peaks_note);
    }
    if (!text.empty()) return text;
  }
  return {};
}

std::string peaks_sentence(const profile::Profile& profile) {
  if (!on_cpu(profile)) {
    return "Peaks are dense and of one GPU; FLOPs and bytes are what the model needs on one GPU, "
           "whatever the kernels did.";
  }
  std::string text;
  if (const auto& cpu = profile.utilization.cpu) {
    text = cpu->method ? fmt::format("Peaks were measured on this CPU ({}). ", *cpu->method)
                       : "Peaks were measured on this CPU. ";
    text += origin_sentence(profile);
  }
  text += profile.model ? "FLOPs and bytes are what the model needs, whatever the operators did."
                        : "FLOPs and bytes are those that the program recorded with its operators.";
  return text;
}

void add_stage_cost(const profile::Profile& profile, const profile::Stage& stage,
                    Document& document) {
  if (stage.why_not && stage.why_not != profile.utilization.why_not) {
    document.add(Callout{Callout::Kind::note, stage.name + ": " + clause(*stage.why_not)});
  }
  if (stage.cost.empty()) return;
  document.add(Heading{3, stage.from_operators
                              ? "What " + stage.name + " computed and moved, as recorded"
                              : "What " + stage.name + " must compute and move"});
  document.add(Paragraph{inputs_sentence(stage, device_word(profile))});
  document.add(stage.from_operators ? recorded_cost_table(stage.cost) : cost_table(stage.cost));
}

}  // namespace

void add_section(Topic<"utilization"> /*topic*/, const Profile& profile, Document& document) {
  document.add(Heading{2, "MFU and MBU"});
  if (!any_cost(profile)) {
    document.add(Paragraph{"Not known: " + why_no_utilization(profile)});
    return;
  }
  document.add(ratio_table(profile));
  document.add(
      Paragraph{"MFU = FLOPs / (time x peak FLOP/s); MBU = bytes / (time x peak bandwidth). " +
                peaks_sentence(profile)});
  if (Table recorded = recorded_table(profile); !recorded.rows.empty()) {
    document.add(
        Paragraph{"The same by the FLOPs and bytes that the program recorded with its "
                  "operators (activations included):"});
    document.add(std::move(recorded));
  }
  if (const auto& why = profile.utilization.why_not) {
    document.add(Callout{Callout::Kind::note, sentence(*why)});
  }
  for (const profile::Stage& stage : profile.stages) add_stage_cost(profile, stage, document);
}

}  // namespace llmprof::report
