#include <fmt/format.h>

#include <algorithm>
#include <ranges>

#include "report/format/figures.h"
#include "report/format/words.h"
#include "report/sections/sections.h"

namespace llmprof::report {
namespace {

constexpr size_t kShownKernelsPerStage = 8;
constexpr std::string_view kSavingPerToken = "potential saving (ms per output token)";

Table part_table(const PotentialSavings& stage) {
  Table table = table_of(
      "part | #time (ms) | #lower bound (ms) | #potential saving (ms) | #potential saving (ms per "
      "output token) | how the bound was found",
      stage.parts, [](const PartSaving& part) {
        if (!part.shown) return Row();
        return cells(look_of(part.part).shown, ms(part.time), ms(part.floor), ms(part.saving),
                     fine_ms(part.saving_per_output_token), part.floor_rule.value_or(""));
      });
  return table.show_if(stage.tokens.has_value(), kSavingPerToken);
}

Table kernel_saving_table(const PotentialSavings& stage) {
  const auto saves = [](const KernelSaving& kernel) { return kernel.saving.value > 0; };
  Table table = table_of(
      "kernel | #time (ms) | #lower bound (ms) | #potential saving (ms) | #potential saving (ms "
      "per output token) | basis of the bound",
      stage.kernels | std::views::take_while(saves),
      [](const KernelSaving& kernel) {
        return cells(kernel.short_name, ms(kernel.time), ms(kernel.floor), ms(kernel.saving),
                     fine_ms(kernel.saving_per_output_token), in_words(kernel.floor_basis));
      },
      kShownKernelsPerStage);
  return table.show_if(stage.tokens.has_value(), kSavingPerToken);
}

std::string most_words(const PotentialSavings& stage) {
  if (!stage.most) return {};
  return fmt::format(
      " The stage takes less time unprofiled, so no potential saving is larger than {} ms.",
      ms(stage.most));
}

std::string bound_sentence(const Profile& profile, const PotentialSavings& stage) {
  const std::string text = fmt::format("Wall time {} ms; ", ms(stage.wall));
  if (stage.bound) {
    return text + fmt::format("the hardware's lower bound, end to end, is {} ms.{}",
                              ms(stage.bound), most_words(stage));
  }
  const bool said_above = stage.bound_reason == profile.utilization.why_not;
  const std::string why = said_above ? "see MFU and MBU" : stage.bound_reason.value_or("");
  return text + fmt::format("the hardware's lower bound is not known{}.{}",
                            stage.bound_reason ? " (" + why + ")" : "", most_words(stage));
}

// If ncu counted no kernel's bytes and FLOPs, bounds have only one basis.
std::string basis_sentence(const PotentialSavings& stage) {
  const bool counted_any = std::ranges::any_of(stage.kernels, [](const auto& kernel) {
    return kernel.floor_basis == FloorBasis::own_counters;
  });
  return counted_any
             ? "By kernel. A kernel's lower bound comes from the bytes and FLOPs that ncu counted; "
               "without them it is the kernel's share (by time) of the lower bound of its class:"
             : "By kernel. A kernel's lower bound is its share (by time) of the lower bound of its "
               "class:";
}

Table finding_table(const Profile& profile) {
  const std::string per = per_unit(profile);
  Table table = table_of(
      "#no. | finding | stage | #potential saving (ms) | per | #share of the stage's wall time | "
      "#potential saving (ms per output token)");
  for (const Finding& finding : profile.findings) {
    table.add(std::to_string(table.rows.size() + 1), finding.title, finding.stage.value_or(""),
              ms(finding.saving), per_unit(finding),
              percent(finding.stage ? std::optional(finding.share_of_wall) : std::nullopt),
              fine_ms(finding.saving_per_output_token));
  }
  table.show_if(per.empty(), "per").show_if(has_tokens(profile), kSavingPerToken);
  if (!per.empty()) table.columns[3].title = fmt::format("potential saving (ms {})", per);
  return table;
}

}  // namespace

void add_section(Topic<"potential savings"> /*topic*/, const Profile& profile, Document& document) {
  if (!document.begin(2, "Potential savings", profile.job || profile.savings.empty(),
                      of_single_ranks(profile, "Not available: " + why_no_stage_figures(profile))))
    return;
  document.paragraph(
      "Times are per {}. The lower bound (floor) of a part is the least time that it could take; "
      "the potential saving is its time above that bound: an upper limit, not a promise. Parts "
      "that could save less than a hundredth of the wall time are only in profile.json.",
      instance_name(profile, "instance"));
  for (const PotentialSavings& stage : profile.savings) {
    document.heading(3, "Potential savings in " + stage.stage);
    document.add_filled(part_table(stage));
    document.paragraph(bound_sentence(profile, stage));
    document.add_filled(kernel_saving_table(stage), basis_sentence(stage));
  }
}

void add_section(Topic<"findings"> /*topic*/, const Profile& profile, Document& document) {
  const std::string none = "None: " + why_no_findings(profile);
  if (!document.begin(2, "Findings", profile.findings.empty(), none)) return;
  document.add(finding_table(profile));
  for (size_t i = 0; i < profile.findings.size(); ++i) {
    const Finding& finding = profile.findings[i];
    document.heading(3, fmt::format("{}. {}", i + 1, finding.title));
    document.paragraph("Evidence: " + clause(finding.evidence));
    document.paragraph("What to do: " + after_colon(sentence(finding.advice)));
  }
}

}  // namespace llmprof::report
