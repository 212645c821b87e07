#include <fmt/format.h>

#include <algorithm>

#include "report/numbers.h"
#include "report/sections/sections.h"

namespace llmprof::report {
namespace {

constexpr size_t kShownRooflines = 20;
constexpr size_t kShownKernels = 8;
constexpr double kWorthARow = 0.01;  // of wall

std::string share_of_peak(const std::optional<double>& percentage) {
  constexpr double kPercent = 100;
  return percentage ? percent(*percentage / kPercent) : std::string(kMissing);
}

std::string intensity(const std::optional<double>& value) {
  return value ? fmt::format("{:.2f}", *value) : std::string(kMissing);
}

// "120", "120, commonest grid 64 x 1 x 1 (of 3)": figures are means over all of them.
std::string measured_words(const analysis::KernelRoofline& kernel) {
  std::string words = grouped(kernel.launches);
  if (!kernel.grid) return words;
  words += fmt::format(", {} {} x {} x {}", kernel.grids > 1 ? "commonest grid" : "grid",
                       (*kernel.grid)[0], (*kernel.grid)[1], (*kernel.grid)[2]);
  if (kernel.grids > 1) words += fmt::format(" (of {})", kernel.grids);
  return words;
}

Table kernel_roofline_table(const analysis::Profile& profile) {
  const bool recorded = profile.roofline.recorded;
  Table table;
  table.columns = {text_column("kernel"),
                   recorded ? number_column("calls") : text_column("launches measured"),
                   number_column("compute"),
                   number_column(recorded ? "bytes moved" : "DRAM traffic"),
                   number_column("FLOP a byte"),
                   number_column("compute share of peak"),
                   number_column("memory share of peak"),
                   text_column("bound by")};
  const auto& kernels = profile.roofline.kernels;
  for (size_t i = 0; i < std::min(kShownRooflines, kernels.size()); ++i) {
    const analysis::KernelRoofline& kernel = kernels[i];
    table.rows.push_back(
        {profile.ranking.rows[kernel.row].description.short_name, measured_words(kernel),
         scaled(kernel.flops, "FLOP/s"), scaled(kernel.bytes, "B/s"), intensity(kernel.intensity),
         share_of_peak(kernel.compute_percent), share_of_peak(kernel.memory_percent),
         std::string(analysis::to_string(kernel.bound))});
  }
  return table;
}

Table stage_roofline_table(const Reported& reported) {
  Table table;
  table.columns = {text_column("stage"),
                   number_column(reported.profile.utilization.model ? "FLOP a byte, of the model"
                                                                    : "FLOP a byte"),
                   number_column("FLOP a byte where the roofs meet"),
                   text_column("bound by"),
                   number_column("least possible (ms)"),
                   number_column("wall (ms)")};
  for (size_t i = 0; i < reported.stages.size(); ++i) {
    const StageFacts& facts = reported.facts.stages[i];
    if (!bound_is_known(facts.utilization)) continue;
    table.rows.push_back({reported.stages[i].name, intensity(facts.intensity),
                          intensity(facts.ridge),
                          facts.utilization->memory_bound ? "memory" : "compute",
                          ms(*facts.utilization->floor), ms(reported.stages[i].wall.mean)});
  }
  return table;
}

Table recoverable_table(const Reported& reported, const analysis::StageRecoverable& stage) {
  Table table;
  table.columns = {text_column("part"), number_column("time (ms)"), number_column("floor (ms)"),
                   number_column("recoverable (ms)")};
  const bool tokens = stage.tokens > 0;
  if (tokens) table.columns.push_back(number_column("recoverable (ms a token)"));
  table.columns.push_back(text_column("the floor"));
  for (const analysis::RecoverablePart& part : stage.parts) {
    if (part.recoverable() < kWorthARow * stage.wall) continue;
    auto& row = table.rows.emplace_back();
    row = {reported.part_name(part.part), ms(part.time), ms(part.floor), ms(part.recoverable())};
    if (tokens) row.push_back(fine_ms(part.recoverable() / stage.tokens));
    row.push_back(part.floor_rule);
  }
  return table;
}

Table kernel_recoverable_table(const Reported& reported, const analysis::StageRecoverable& stage) {
  Table table;
  table.columns = {text_column("kernel"), number_column("time (ms)"), number_column("floor (ms)"),
                   number_column("recoverable (ms)")};
  const bool tokens = stage.tokens > 0;
  if (tokens) table.columns.push_back(number_column("recoverable (ms a token)"));
  table.columns.push_back(text_column("basis of the floor"));
  for (const analysis::KernelRecoverable& kernel : reported.profile.kernel_recoverable) {
    if (kernel.stage != stage.stage) continue;
    if (table.rows.size() == kShownKernels || kernel.recoverable() <= 0) break;
    auto& row = table.rows.emplace_back();
    row = {reported.profile.ranking.rows[kernel.row].description.short_name, ms(kernel.time),
           ms(kernel.floor), ms(kernel.recoverable())};
    if (tokens) row.push_back(fine_ms(kernel.recoverable() / stage.tokens));
    row.emplace_back(analysis::floor_basis(kernel));
  }
  return table;
}

}  // namespace

void add_roofline(const Reported& reported, Document& document) {
  const analysis::Roofline& roofline = reported.profile.roofline;
  document.add(Heading{2, "Roofline"});
  if (!roofline.kernels.empty()) {
    document.add(kernel_roofline_table(reported.profile));
    if (!roofline.rule.empty()) document.add(Paragraph{sentence(roofline.rule)});
  } else {
    document.add(Paragraph{
        "By kernel: " +
        (roofline.missing.empty()
             ? "not known; profile with ncu (--set roofline) and analyse its CSV together with "
               "this capture."
             : clause(roofline.missing))});
  }
  if (Table stages = stage_roofline_table(reported); !stages.rows.empty()) {
    document.add(Paragraph{reported.profile.utilization.model
                               ? "By stage, from what the model must compute and move:"
                               : "By stage, from what the operators recorded:"});
    document.add(std::move(stages));
  } else {
    document.add(Paragraph{"By stage: not known: " + why_no_utilization(reported.profile)});
  }
}

void add_recoverable(const Reported& reported, Document& document) {
  document.add(Heading{2, "Recoverable time"});
  if (reported.profile.recoverable.empty()) {
    document.add(Paragraph{"Not known: there are no stages (see the per-stage timings)."});
    return;
  }
  document.add(
      Paragraph{"Time of an " + instance_name(reported.profile, "instance") +
                " above its floor, which is the least time that part could take. An upper "
                "bound, not a promise. Parts with less than a hundredth of wall to recover are in "
                "profile.json only."});
  for (const analysis::StageRecoverable& stage : reported.profile.recoverable) {
    document.add(Heading{3, "Recoverable in " + reported.stages[stage.stage].name});
    if (Table table = recoverable_table(reported, stage); !table.rows.empty()) {
      document.add(std::move(table));
    }
    std::string text = fmt::format("Wall time {} ms", ms(stage.wall));
    if (stage.bound) {
      text += fmt::format("; the hardware's own bound, end to end, is {} ms", ms(*stage.bound));
    } else if (!stage.bound_reason.empty()) {
      text += "; the hardware's own bound is not known: " + stage.bound_reason;
    }
    document.add(Paragraph{sentence(text)});
    if (Table kernels = kernel_recoverable_table(reported, stage); !kernels.rows.empty()) {
      document.add(Paragraph{
          "By kernel; its floor is by the bytes and FLOPs that ncu counted of it, or its share, by "
          "time, of its class's:"});
      document.add(std::move(kernels));
    }
  }
}

void add_findings(const Reported& reported, Document& document) {
  const auto& findings = reported.profile.findings;
  document.add(Heading{2, "Findings"});
  if (findings.empty()) {
    document.add(Paragraph{"None: " + why_no_findings(reported.profile)});
    return;
  }
  Table table;
  table.columns = {
      number_column("no."),
      text_column("finding"),
      text_column("stage"),
      number_column(fmt::format("recoverable (ms {})", instance_words(reported.profile))),
      number_column("share of the stage's wall"),
      number_column("recoverable (ms a token)")};
  for (size_t i = 0; i < findings.size(); ++i) {
    const analysis::Finding& finding = findings[i];
    table.rows.push_back(
        {std::to_string(i + 1), finding.title, finding.stage,
         finding.blind ? std::string(kMissing) : ms(finding.recoverable),
         finding.stage.empty() ? std::string(kMissing) : percent(finding.share_of_wall),
         fine_ms(finding.per_token)});
  }
  document.add(std::move(table));
  for (size_t i = 0; i < findings.size(); ++i) {
    document.add(Heading{3, fmt::format("{}. {}", i + 1, findings[i].title)});
    document.add(Paragraph{"Evidence: " + sentence(findings[i].evidence)});
    document.add(Paragraph{"Do: " + sentence(findings[i].advice)});
  }
}

}  // namespace llmprof::report
