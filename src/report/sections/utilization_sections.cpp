#include <fmt/format.h>

#include <algorithm>

#include "report/format/figures.h"
#include "report/format/words.h"
#include "report/sections/sections.h"

namespace llmprof::report {
namespace {

Table ratio_table(const Profile& profile) {
  return table_of(fmt::format("stage | #FLOPs per {0} | #bytes per {0} | #MFU on wall | #MFU on "
                              "{1} busy | #MBU on wall | #MBU on {1} busy | #lower bound (ms)",
                              instance_name(profile, "instance"), device_word(profile)),
                  profile.stages, [](const Stage& stage) {
                    if (stage.cost.empty()) return Row();
                    const StageShown& shown = stage.shown;
                    return cells(stage.name, in_unit(stage.flops), in_unit(stage.bytes),
                                 percent(shown.mfu.wall), percent(shown.mfu.gpu_busy),
                                 percent(shown.mbu.wall), percent(shown.mbu.gpu_busy),
                                 ms(stage.shown.floor));
                  });
}

// What the operators recorded, next to what the model needs.
Table recorded_table(const Profile& profile) {
  return table_of(fmt::format("stage | #FLOPs recorded | #over the model's | #bytes recorded | "
                              "#MFU on wall | #MFU on {0} busy | #MBU on wall | #MBU on {0} busy",
                              device_word(profile)),
                  profile.stages, [](const Stage& stage) {
                    if (!stage.recorded || stage.from_operators) return Row();
                    const RecordedWork& own = *stage.recorded;
                    return cells(stage.name, in_unit(own.flops), ratio(own.flops_over_model),
                                 in_unit(own.bytes), percent(own.mfu.wall),
                                 percent(own.mfu.gpu_busy), percent(own.mbu.wall),
                                 percent(own.mbu.gpu_busy));
                  });
}

Table cost_table(const Stage& stage) {
  if (stage.from_operators) {
    // Operators of one class move either weights or the KV cache.
    return table_of("operators of class | #FLOPs | #bytes", stage.cost, [](const CostPart& part) {
      return cells(shown_text(part.part), in_unit(part.flops),
                   in_unit(part.kv_bytes.value > 0 ? part.kv_bytes : part.weight_bytes));
    });
  }
  return table_of("part of the model | #FLOPs | #weights read | #KV cache read and written",
                  stage.cost, [](const CostPart& part) {
                    return cells(part.part, in_unit(part.flops), in_unit(part.weight_bytes),
                                 in_unit(part.kv_bytes));
                  });
}

std::string inputs_sentence(const Stage& stage, std::string_view device) {
  std::string text;
  if (stage.basis) text += sentence(*stage.basis) + " ";
  text += fmt::format("Wall {} ms, {} busy {} ms.", ms(stage.shown.wall.mean), device,
                      ms(stage.gpu_busy.mean));
  if (stage.peak_flops) {
    text += fmt::format(" Peaks: {} ({}), {}.", in_unit(stage.peak_flops),
                        stage.peak_name.value_or(""), in_unit(stage.peak_bandwidth));
  }
  if (stage.shown.bound && stage.shown.wall_over_floor) {
    text += fmt::format(" The lower bound is set by {}; the wall time is {} times as long.",
                        stage.shown.bound == Bound::memory ? "the bytes" : "the FLOPs",
                        ratio(stage.shown.wall_over_floor));
  }
  return text;
}

// Names the measurement if it is not from this run.
std::string origin_sentence(const Profile& profile) {
  for (const Cpu& cpu : profile.context.cpus) {
    std::string text;
    if (cpu.peaks_from && *cpu.peaks_from != PeaksFrom::this_run && cpu.peaks_measured_at) {
      text = fmt::format(
          "They are the highest values that any run measured on this machine (compute: {}). ",
          *cpu.peaks_measured_at);
    }
    if (cpu.peaks_note) {
      text += fmt::format("The measurement of this run was disturbed: {}. ", *cpu.peaks_note);
    }
    if (!text.empty()) return text;
  }
  return {};
}

std::string peaks_sentence(const Profile& profile) {
  if (!on_cpu(profile)) {
    return "Peaks are dense, for one GPU. FLOPs and bytes are what the model needs on one GPU, "
           "whatever the kernels did.";
  }
  std::string text;
  if (const auto& cpu = profile.utilization.cpu) {
    text = cpu->method ? fmt::format("Peaks were measured on this CPU ({}). ", *cpu->method)
                       : "Peaks were measured on this CPU. ";
    text += origin_sentence(profile);
  }
  text += profile.model ? "FLOPs and bytes are what the model needs, whatever the operators did."
                        : "The program recorded FLOPs and bytes with its operators.";
  return text;
}

void add_stage_cost(const Profile& profile, const Stage& stage, Document& document) {
  if (stage.why_not && stage.why_not != profile.utilization.why_not) {
    document.note(stage.name + ": " + clause(*stage.why_not));
  }
  if (stage.cost.empty()) return;
  document.heading(3, stage.from_operators
                          ? "What " + stage.name + " computed and moved, as recorded"
                          : "What " + stage.name + " must compute and move");
  document.paragraph(inputs_sentence(stage, device_word(profile)));
  document.add(cost_table(stage));
}

constexpr size_t kShownPoints = 20;

// "120", "120, most frequent grid 64 x 1 x 1 (of 3)": figures are means over all launches.
std::string measured_launches_words(const RooflineKernel& kernel) {
  if (!kernel.commonest_grid) return text_of(grouped(kernel.launches));
  const Extent& grid = *kernel.commonest_grid;
  return fmt::format("{}, {} {} x {} x {}{}", grouped(kernel.launches),
                     kernel.grids > 1 ? "most frequent grid" : "grid", grid[0], grid[1], grid[2],
                     kernel.grids > 1 ? fmt::format(" (of {})", kernel.grids) : "");
}

// "ncu", "counters, 41 samples".
std::string kernel_source_words(const RooflineKernel& kernel) {
  if (!is_by_counters(kernel)) return spelled(kernel.source);
  return fmt::format("{}, {}", spelled(kernel.source), counted(kernel.samples, "sample"));
}

// "12.30 TFLOP/s", "12.30 TFLOP/s (bf16 dense)", or why there are none.
Cell flops_cell(const RooflineKernel& kernel) {
  if (kernel.why_no_flops) return std::string(in_words(*kernel.why_no_flops));
  if (!kernel.peak_name) return in_unit(kernel.flops_per_s);
  return fmt::format("{} ({})", in_unit(kernel.flops_per_s), *kernel.peak_name);
}

Table roofline_table(const Profile& profile) {
  // A CPU's operators record themselves what they compute and move.
  const bool recorded = on_cpu(profile);
  return table_of(
      fmt::format("kernel | {} | #compute | #{} | #FLOP/B | #compute share of peak | #memory share "
                  "of peak | bound by",
                  recorded ? "#calls" : "launches measured; source",
                  recorded ? "bytes moved" : "DRAM traffic"),
      profile.roofline.kernels,
      [&](const RooflineKernel& kernel) {
        return cells(kernel.short_name,
                     recorded
                         ? text_of(grouped(kernel.launches))
                         : measured_launches_words(kernel) + "; " + kernel_source_words(kernel),
                     flops_cell(kernel), in_unit(kernel.bytes_per_s),
                     in_unit(kernel.flops_per_byte), percent(kernel.compute_share_of_peak),
                     percent(kernel.memory_share_of_peak), spelled(kernel.bound));
      },
      kShownPoints);
}

Table stage_roofline(const Profile& profile) {
  return table_of(
      fmt::format("stage | #{} | #ridge point (FLOP/B) | bound by | #lower bound (ms) | #wall (ms)",
                  profile.model ? "FLOP/B of the model" : "FLOP/B"),
      profile.stages, [](const Stage& stage) {
        if (!stage.shown.bound) return Row();
        return cells(stage.name, in_unit(stage.flops_per_byte), in_unit(stage.ridge),
                     bound_words(stage), ms(stage.floor), ms(stage.shown.wall.mean));
      });
}

}  // namespace

void add_section(Topic<"utilization"> /*topic*/, const Profile& profile, Document& document) {
  const bool missing =
      std::ranges::all_of(profile.stages, [](const Stage& stage) { return stage.cost.empty(); });
  const std::string why = "Not available: " + why_no_utilization(profile);
  if (!document.begin(2, "MFU and MBU", missing, why)) return;
  document.add(ratio_table(profile));
  document.paragraph("MFU = FLOPs / (time x peak FLOP/s); MBU = bytes / (time x peak bandwidth). " +
                     peaks_sentence(profile));
  document.add_filled(recorded_table(profile),
                      "The same from the FLOPs and bytes that the program recorded with its "
                      "operators (including activations):");
  if (const auto& known = profile.utilization.why_not) document.note(sentence(*known));
  for (const Stage& stage : profile.stages) add_stage_cost(profile, stage, document);
}

void add_section(Topic<"roofline"> /*topic*/, const Profile& profile, Document& document) {
  const Roofline& roofline = profile.roofline;
  if (document.begin(2, "Roofline", roofline.kernels.empty(),
                     "Unknown by kernel: " + why_no_kernel_bounds(profile))) {
    document.add(roofline_table(profile));
    if (roofline.rule) document.paragraph(sentence(*roofline.rule));
    if (roofline.why_not && std::ranges::any_of(roofline.kernels, is_by_counters)) {
      document.paragraph(sentence(*roofline.why_not));
    }
  }
  Table stages = stage_roofline(profile);
  if (stages.rows.empty()) document.paragraph("Unknown by stage: " + why_no_utilization(profile));
  document.add_filled(std::move(stages),
                      profile.model
                          ? "By stage, from the FLOPs and bytes that the model needs:"
                          : "By stage, from the FLOPs and bytes that operators recorded:");
}

}  // namespace llmprof::report
