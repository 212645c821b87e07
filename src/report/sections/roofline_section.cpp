#include <fmt/format.h>

#include <algorithm>

#include "report/format/figures.h"
#include "report/format/sentences.h"
#include "report/format/words.h"
#include "report/sections/reasons.h"
#include "report/sections/section_words.h"
#include "report/sections/sections.h"

namespace llmprof::report {
namespace {

constexpr size_t kShownPoints = 20;

// "120", "120, most frequent grid 64 x 1 x 1 (of 3)": figures are means over all of them.
std::string measured_launches_words(const profile::RooflineKernel& kernel) {
  if (!kernel.commonest_grid) return text_of(grouped(kernel.launches));
  const profile::Extent& grid = *kernel.commonest_grid;
  return fmt::format("{}, {} {} x {} x {}{}", grouped(kernel.launches),
                     kernel.grids > 1 ? "most frequent grid" : "grid", grid[0], grid[1], grid[2],
                     kernel.grids > 1 ? fmt::format(" (of {})", kernel.grids) : "");
}

bool any_by_counters(const profile::Profile& profile) {
  const auto& kernels = profile.roofline.kernels;
  return std::any_of(kernels.begin(), kernels.end(),
                     [](const auto& kernel) { return is_by_counters(kernel); });
}

// "ncu", "counters, 41 samples".
std::string kernel_source_words(const profile::RooflineKernel& kernel) {
  if (!is_by_counters(kernel)) return spelled(kernel.source);
  return fmt::format("{}, {}", spelled(kernel.source), counted(kernel.samples, "sample"));
}

// "12.30 TFLOP/s", "12.30 TFLOP/s (bf16 dense)", or why there are none.
Cell flops_cell(const profile::RooflineKernel& kernel) {
  if (kernel.why_no_flops) return std::string(in_words(*kernel.why_no_flops));
  if (!kernel.peak_name) return scaled(kernel.flops_per_s);
  return fmt::format("{} ({})", scaled(kernel.flops_per_s), *kernel.peak_name);
}

Table roofline_table(const profile::Profile& profile) {
  // A CPU's operators say themselves what they compute and move.
  const bool recorded = on_cpu(profile);
  Table table{{text_column("kernel"),
               recorded ? number_column("calls") : text_column("launches measured; source"),
               number_column("compute"), number_column(recorded ? "bytes moved" : "DRAM traffic"),
               number_column("FLOP/B"), number_column("compute share of peak"),
               number_column("memory share of peak"), text_column("bound by")}};
  const auto& kernels = profile.roofline.kernels;
  for (size_t i = 0; i < std::min(kShownPoints, kernels.size()); ++i) {
    const profile::RooflineKernel& kernel = kernels[i];
    const Cell launches =
        recorded ? Cell(grouped(kernel.launches))
                 : Cell(measured_launches_words(kernel) + "; " + kernel_source_words(kernel));
    table.rows.push_back({kernel.short_name, launches, flops_cell(kernel),
                          scaled(kernel.bytes_per_s), intensity(kernel.flops_per_byte),
                          percent(kernel.compute_share_of_peak),
                          percent(kernel.memory_share_of_peak), spelled(kernel.bound)});
  }
  return table;
}

Table stage_roofline(const profile::Profile& profile) {
  Table table{{text_column("stage"),
               number_column(profile.model ? "FLOP/B of the model" : "FLOP/B"),
               number_column("ridge point (FLOP/B)"), text_column("bound by"),
               number_column("lower bound (ms)"), number_column("wall (ms)")}};
  for (const profile::Stage& stage : profile.stages) {
    if (!stage.shown.bound) continue;
    table.rows.push_back({stage.name, intensity(stage.flops_per_byte), intensity(stage.ridge),
                          std::string(to_string(*stage.shown.bound)), ms(stage.floor),
                          ms(stage.shown.wall.mean)});
  }
  return table;
}

}  // namespace

void add_section(Topic<"roofline"> /*topic*/, const Profile& profile, Document& document) {
  document.add(Heading{2, "Roofline"});
  if (profile.roofline.kernels.empty()) {
    document.add(Paragraph{"Not known by kernel: " + why_no_kernel_bounds(profile)});
  } else {
    document.add(roofline_table(profile));
    if (const auto& rule = profile.roofline.rule) document.add(Paragraph{sentence(*rule)});
    const auto& why = profile.roofline.why_not;
    if (why && any_by_counters(profile)) document.add(Paragraph{sentence(*why)});
  }
  Table stages = stage_roofline(profile);
  if (stages.rows.empty()) {
    document.add(Paragraph{"Not known by stage: " + why_no_utilization(profile)});
    return;
  }
  document.add(Paragraph{profile.model ? "By stage, from what the model must compute and move:"
                                       : "By stage, from what the operators recorded:"});
  document.add(std::move(stages));
}

}  // namespace llmprof::report
