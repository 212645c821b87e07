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

constexpr size_t kShownKernelsPerStage = 8;

Table saving_table(std::string_view of, std::string_view last, bool tokens) {
  Table table{{text_column(of), number_column("time (ms)"), number_column("lower bound (ms)"),
               number_column("potential saving (ms)")}};
  if (tokens) table.columns.push_back(number_column("potential saving (ms per output token)"));
  table.columns.push_back(text_column(last));
  return table;
}

Table part_table(const profile::StageRecoverable& stage) {
  const bool tokens = stage.tokens.has_value();
  Table table = saving_table("part", "how the bound was found", tokens);
  for (const profile::RecoverablePart& part : stage.parts) {
    if (!part.shown) continue;
    auto& row = table.rows.emplace_back();
    row = {std::string(shown_name(part.part)), ms(part.time), ms(part.floor), ms(part.recoverable)};
    if (tokens) row.emplace_back(fine_ms(part.recoverable_per_output_token));
    row.emplace_back(part.floor_rule.value_or(""));
  }
  return table;
}

Table kernel_table(const profile::StageRecoverable& stage) {
  const bool tokens = stage.tokens.has_value();
  Table table = saving_table("kernel", "basis of the bound", tokens);
  for (const profile::RecoverableKernel& kernel : stage.kernels) {
    if (table.rows.size() == kShownKernelsPerStage || kernel.recoverable.value <= 0) break;
    auto& row = table.rows.emplace_back();
    row = {kernel.short_name, ms(kernel.time), ms(kernel.floor), ms(kernel.recoverable)};
    if (tokens) row.emplace_back(fine_ms(kernel.recoverable_per_output_token));
    row.emplace_back(std::string(shown_text(kernel.floor_basis)));
  }
  return table;
}

std::string most_words(const profile::StageRecoverable& stage) {
  if (!stage.most) return {};
  return fmt::format(
      " The stage takes less time unprofiled, so no potential saving is larger than {} ms.",
      ms(stage.most));
}

std::string bound_sentence(const profile::Profile& profile,
                           const profile::StageRecoverable& stage) {
  const std::string text = fmt::format("Wall time {} ms; ", ms(stage.wall));
  if (stage.bound) {
    return text + fmt::format("the hardware's lower bound, end to end, is {} ms.{}",
                              ms(stage.bound), most_words(stage));
  }
  const bool told_above = stage.bound_reason == profile.utilization.why_not;
  const std::string why = told_above ? "see MFU and MBU" : stage.bound_reason.value_or("");
  return text + fmt::format("the hardware's lower bound is not known{}.{}",
                            stage.bound_reason ? " (" + why + ")" : "", most_words(stage));
}

// Where ncu counted no kernel's bytes and FLOPs, there is only one way to a bound.
std::string_view basis_sentence(const profile::StageRecoverable& stage) {
  const bool counted_any = std::any_of(stage.kernels.begin(), stage.kernels.end(),
                                       [](const profile::RecoverableKernel& kernel) {
                                         return kernel.floor_basis != "share of the class's floor";
                                       });
  return counted_any
             ? "By kernel. A kernel's lower bound comes from the bytes and FLOPs that ncu counted; "
               "without them it is the kernel's share (by time) of the lower bound of its class:"
             : "By kernel. A kernel's lower bound is its share (by time) of the lower bound of its "
               "class:";
}

Table finding_table(const profile::Profile& profile) {
  const std::string per = per_unit(profile);
  Table table{{number_column("no."), text_column("finding"), text_column("stage"),
               number_column(per.empty() ? "potential saving (ms)"
                                         : fmt::format("potential saving (ms {})", per))}};
  if (per.empty()) table.columns.push_back(text_column("saved"));
  table.columns.push_back(number_column("share of the stage's wall time"));
  if (has_tokens(profile)) {
    table.columns.push_back(number_column("potential saving (ms per output token)"));
  }
  for (size_t i = 0; i < profile.findings.size(); ++i) {
    const profile::Finding& finding = profile.findings[i];
    auto& row = table.rows.emplace_back();
    row = {std::to_string(i + 1), finding.title, finding.stage.value_or(""),
           ms(finding.recoverable)};
    if (per.empty()) row.emplace_back(per_unit(finding));
    row.emplace_back(percent(finding.stage ? std::optional(finding.share_of_wall) : std::nullopt));
    if (has_tokens(profile)) row.emplace_back(fine_ms(finding.recoverable_per_output_token));
  }
  return table;
}

}  // namespace

void add_section(Topic<"potential savings"> /*topic*/, const Profile& profile, Document& document) {
  document.add(Heading{2, "Potential savings"});
  if (profile.job) {
    document.add(Paragraph{std::string(kToldOfSingleRanks)});
    return;
  }
  if (profile.recoverable.empty()) {
    document.add(Paragraph{"Not known: " + why_no_stage_figures(profile)});
    return;
  }
  document.add(Paragraph{fmt::format(
      "Times are per {}. The lower bound (floor) of a part is the least time that it could take; "
      "the potential saving is its time above that bound: an upper limit, not a promise. Parts "
      "that could save less than a hundredth of the wall time are only in profile.json.",
      instance_name(profile, "instance"))});
  for (const profile::StageRecoverable& stage : profile.recoverable) {
    document.add(Heading{3, "Potential savings in " + stage.stage});
    if (Table table = part_table(stage); !table.rows.empty()) document.add(std::move(table));
    document.add(Paragraph{bound_sentence(profile, stage)});
    if (Table kernels = kernel_table(stage); !kernels.rows.empty()) {
      document.add(Paragraph{std::string(basis_sentence(stage))});
      document.add(std::move(kernels));
    }
  }
}

void add_section(Topic<"findings"> /*topic*/, const Profile& profile, Document& document) {
  document.add(Heading{2, "Findings"});
  if (profile.findings.empty()) {
    document.add(Paragraph{"None: " + why_no_findings(profile)});
    return;
  }
  document.add(finding_table(profile));
  for (size_t i = 0; i < profile.findings.size(); ++i) {
    const profile::Finding& finding = profile.findings[i];
    document.add(Heading{3, fmt::format("{}. {}", i + 1, finding.title)});
    document.add(Paragraph{"Evidence: " + clause(finding.evidence)});
    document.add(Paragraph{"What to do: " + after_colon(sentence(finding.advice))});
  }
}

}  // namespace llmprof::report
