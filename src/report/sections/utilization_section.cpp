#include <fmt/format.h>

#include <algorithm>

#include "report/numbers.h"
#include "report/sections/sections.h"

namespace llmprof::report {
namespace {

bool any_cost(const analysis::Utilization& use) {
  return std::any_of(
      use.stages.begin(), use.stages.end(),
      [](const analysis::StageUtilization& stage) { return !stage.cost.parts.empty(); });
}

Table ratio_table(const Reported& reported) {
  const std::string instance = instance_name(reported.profile, "instance");
  const std::string_view device = reported.words().device;
  Table table;
  table.columns = {text_column("stage"),
                   number_column("FLOPs an " + instance),
                   number_column("bytes an " + instance),
                   number_column("MFU on wall"),
                   number_column(fmt::format("MFU on {} busy", device)),
                   number_column("MBU on wall"),
                   number_column(fmt::format("MBU on {} busy", device)),
                   number_column("least possible (ms)")};
  for (const analysis::StageUtilization& use : reported.profile.utilization.stages) {
    if (use.cost.parts.empty()) continue;
    table.rows.push_back({reported.stages[use.stage].name, scaled(use.cost.flops(), "FLOP"),
                          scaled(use.cost.bytes(), "B"), percent(use.mfu_wall),
                          percent(use.mfu_busy), percent(use.mbu_wall), percent(use.mbu_busy),
                          bound_is_known(&use) ? ms(*use.floor) : std::string(kMissing)});
  }
  return table;
}

// What the operators recorded, beside what the model needs.
Table recorded_table(const Reported& reported) {
  const std::string_view device = reported.words().device;
  Table table;
  table.columns = {text_column("stage"),
                   number_column("FLOPs recorded"),
                   number_column("over the model's"),
                   number_column("bytes recorded"),
                   number_column("MFU on wall"),
                   number_column(fmt::format("MFU on {} busy", device)),
                   number_column("MBU on wall"),
                   number_column(fmt::format("MBU on {} busy", device))};
  for (const analysis::StageUtilization& use : reported.profile.utilization.stages) {
    if (!use.recorded || use.from_operators) continue;
    const analysis::StageUtilization::Recorded& own = *use.recorded;
    const auto& over = reported.facts.stages[use.stage].recorded_over_model;
    table.rows.push_back({reported.stages[use.stage].name, scaled(own.flops, "FLOP"),
                          over ? fmt::format("{:.3f}", *over) : std::string(kMissing),
                          scaled(own.bytes, "B"), percent(own.mfu_wall), percent(own.mfu_busy),
                          percent(own.mbu_wall), percent(own.mbu_busy)});
  }
  return table;
}

Table recorded_cost_table(const llm::PassCost& cost) {
  Table table;
  table.columns = {text_column("operators of class"), number_column("FLOPs"),
                   number_column("bytes")};
  for (const llm::CostPart& part : cost.parts) {
    table.rows.push_back(
        {part.name, scaled(part.flops, "FLOP"), scaled(part.weight_bytes + part.kv_bytes, "B")});
  }
  return table;
}

Table cost_table(const llm::PassCost& cost) {
  Table table;
  table.columns = {text_column("part of the model"), number_column("FLOPs"),
                   number_column("weights read"), number_column("KV cache read and written")};
  for (const llm::CostPart& part : cost.parts) {
    table.rows.push_back({part.name, scaled(part.flops, "FLOP"), scaled(part.weight_bytes, "B"),
                          scaled(part.kv_bytes, "B")});
  }
  return table;
}

std::string inputs_sentence(const analysis::StageUtilization& use, const StageFacts& facts,
                            const analysis::Stage& stage, std::string_view device) {
  std::string text;
  if (!use.basis.empty()) text += sentence(use.basis) + " ";
  text +=
      fmt::format("Wall {} ms, {} busy {} ms.", ms(stage.wall.mean), device, ms(stage.busy.mean));
  if (use.peak_flops > 0) {
    text += fmt::format(" Peaks: {} ({}), {}.", scaled(use.peak_flops, "FLOP/s"), use.peak_name,
                        scaled(use.peak_bandwidth, "B/s"));
  }
  if (bound_is_known(&use) && facts.wall_over_floor) {
    text += fmt::format(" The least time is that of {}; the wall time is {:.2f} times as long.",
                        use.memory_bound ? "the bytes" : "the FLOPs", *facts.wall_over_floor);
  }
  return text;
}

std::string peaks_sentence(const Reported& reported) {
  const analysis::Utilization& use = reported.profile.utilization;
  if (reported.profile.device == trace::DeviceKind::gpu) {
    return "Peaks are dense and of one GPU; FLOPs and bytes are what the model needs on one GPU, "
           "whatever the kernels did.";
  }
  std::string text;
  if (use.gpu) {
    text = use.gpu->measured_how.empty()
               ? "Peaks are the CPU's measured ones. "
               : fmt::format("Peaks are the CPU's measured ones ({}; {}). ", use.gpu->name,
                             use.gpu->measured_how);
  }
  text += use.model ? "FLOPs and bytes are what the model needs, whatever the operators did."
                    : "FLOPs and bytes are those that the program recorded with its operators.";
  return text;
}

}  // namespace

void add_utilization(const Reported& reported, Document& document) {
  const analysis::Utilization& use = reported.profile.utilization;
  document.add(Heading{2, "MFU and MBU"});
  if (reported.stages.empty() || !any_cost(use)) {
    document.add(Paragraph{"Not known: " + why_no_utilization(reported.profile)});
    return;
  }
  document.add(ratio_table(reported));
  document.add(
      Paragraph{"MFU = FLOPs / (time x peak FLOP/s); MBU = bytes / (time x peak "
                "bandwidth). " +
                peaks_sentence(reported)});
  if (Table recorded = recorded_table(reported); !recorded.rows.empty()) {
    document.add(
        Paragraph{"The same by the FLOPs and bytes that the program recorded with its "
                  "operators (activations included):"});
    document.add(std::move(recorded));
  }
  if (!use.why_not.empty()) document.add(Callout{Callout::Kind::note, sentence(use.why_not)});
  for (const analysis::StageUtilization& stage : use.stages) {
    const std::string& name = reported.stages[stage.stage].name;
    if (!stage.why_not.empty() && stage.why_not != use.why_not) {
      document.add(Callout{Callout::Kind::note, name + ": " + clause(stage.why_not)});
    }
    if (stage.cost.parts.empty()) continue;
    document.add(Heading{3, stage.from_operators
                                ? "What " + name + " computed and moved, as recorded"
                                : "What " + name + " must compute and move"});
    document.add(Paragraph{inputs_sentence(stage, reported.facts.stages[stage.stage],
                                           reported.stages[stage.stage], reported.words().device)});
    document.add(stage.from_operators ? recorded_cost_table(stage.cost) : cost_table(stage.cost));
  }
}

}  // namespace llmprof::report
