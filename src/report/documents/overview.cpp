#include "report/documents/documents.h"

#include <fmt/format.h>

#include <algorithm>
#include <ranges>
#include <string>
#include <utility>

#include "report/format/figures.h"
#include "report/format/words.h"
#include "report/sections/sections.h"

namespace llmprof::report {
namespace {

constexpr size_t kShownParts = 3;
constexpr size_t kShownFindings = 3;

std::string largest_parts(const Stage& stage) {
  if (!stage.shown.budget) return {};
  return joined(*stage.shown.budget | std::views::take(kShownParts), ", ", [](const auto& part) {
    return fmt::format("{} {}", look_of(part.part).shown, percent(part.share));
  });
}

Table stage_table(const Profile& profile) {
  Table table = table_of(
      "stage@1 | #count@-1 | #wall_ms@1 | #busy/wall | #steps@-1 | #MFU/wall | #MBU/wall | largest "
      "parts of wall",
      profile.stages, [](const Stage& stage) {
        const StageShown& shown = stage.shown;
        return cells(stage.name, grouped(shown.wall.count), mean_and_std(shown.wall),
                     percent(shown.gpu_busy_share_of_wall), step_count_cell(stage),
                     percent(shown.mfu.wall), percent(shown.mbu.wall), largest_parts(stage));
      });
  const bool used = std::ranges::any_of(
      profile.stages, [](const auto& stage) { return stage.mfu.wall || stage.mbu.wall; });
  return table.show_if(used, "MFU/wall").show_if(used, "MBU/wall");
}

// "Time per output token: 6.747 ms (mean of 3,008 tokens, up to 8 sequences). "
std::string serving_words(const Profile& profile) {
  std::string text;
  for (const TokenFigure& figure : shown_tokens(profile).figures) {
    if (profile.requests && figure.by_client) continue;  // has a sentence
    const TokenFigureWords words = token_figure_words(profile, figure);
    text += sentence(fmt::format("{}: {} ms ({})", words.name, words.text, words.of)) + " ";
  }
  return text;
}

std::string token_words(const Profile& profile) {
  if (is_serving(profile)) return serving_words(profile);
  const TokenTimesShown& times = shown_tokens(profile);
  std::string text;
  if (times.time_to_first_token) {
    text += "Time to first token: " + typical_ms(*times.time_to_first_token, "prefill") + ". ";
  }
  if (times.time_per_output_token) {
    text += "Time per output token: " + typical_ms(*times.time_per_output_token, "decode") + ". ";
  }
  return text;
}

std::string finding_line(const Finding& finding) {
  if (!finding.saving) {
    return fmt::format("{}. What to do: {}", finding.title, after_colon(sentence(finding.advice)));
  }
  const std::string per = per_unit(finding);
  return fmt::format("{}: up to {} ms{}{}, {}{}. What to do: {}", finding.title, ms(finding.saving),
                     per.empty() ? "" : " ", per, share_words(finding),
                     profile::has_flag(finding.values, profile::kTracingIncluded)
                         ? ", tracing overhead included"
                         : "",
                     after_colon(sentence(finding.advice)));
}

void add_finding_overview(const Profile& profile, Document& document) {
  if (profile.findings.empty()) return;
  BulletList list;
  std::ranges::transform(profile.findings | std::views::take(kShownFindings),
                         std::back_inserter(list.items), finding_line);
  document.paragraph("Largest opportunities:");
  document.add(std::move(list));
}

// On a narrow terminal, columns with the lowest priority are dropped first.
Table kernel_overview_table(const Profile& profile, size_t top) {
  Table table = table_of(
      "#total_ms@1 | #share | #calls@-2 | #mean_ms@-3 | device | class@-1 | `kernel@1",
      ranked_kernels(profile),
      [](const RankedKernel& row) {
        return cells(exact_ms(row.total), percent(row.share), grouped(row.calls),
                     exact_ms(row.mean), row.kernel->device,
                     look_of(row.kernel->kernel_class).shown, row.kernel->short_name);
      },
      top);
  return table.show_if(profile.totals.devices.size() > 1, "device");
}

// The scope of the table; empty for the whole capture.
std::string ranked_scope_sentence(const Profile& profile) {
  if (!ranks_measured_kernels(profile)) return {};
  const std::string others = joined(profile.totals.scopes, ", ", [](const auto& scope) {
    return scope.scope == Scope::measured || scope.kernel_count == 0
               ? std::string()
               : fmt::format("{} {} ms", to_string(scope.scope), ms(scope.kernel_sum));
  });
  return fmt::format("Kernels of the measured stages{}.",
                     others.empty() ? "" : fmt::format(" (excluded: {})", others));
}

}  // namespace

void add_stage_overview(const Profile& profile, Document& document) {
  if (profile.stages.empty()) {
    if (has_only_requests(profile)) {
      document.paragraph("What requests waited for is unknown: " + why_no_stages(profile));
    } else if (profile.stages_found.reason && !has_only_memory(profile)) {
      document.paragraph(no_stages_words(profile));
    }
    return;
  }
  document.add(stage_table(profile));
  document.paragraph(token_words(profile) + guess_sentence(profile) + coverage_sentence(profile));
  // It defines what a step is.
  for (const Diagnostic& item : profile.diagnostics) {
    if (item.code == "speculative_decoding") document.paragraph(sentence(item.message));
  }
  document.paragraph(served_words(profile));
  document.paragraph(times_words(profile));
  document.paragraph(mean_caveats(profile));
}

Document kernel_overview(const Profile& profile, size_t top) {
  Document document;
  add_damage(profile, document);
  document.paragraph(captures_sentence(profile));
  add_selection(profile, document);
  if (!has_only_requests(profile) && !has_only_memory(profile)) {
    document.paragraph(kernel_totals_sentence(profile));
  }
  for (std::string& each : texts_of(job_summary(profile))) document.paragraph(std::move(each));
  if (profile.engine.name != profile::kUnknownEngine) {
    document.paragraph("Engine: " + engine_words(profile) + ".");
  }
  document.paragraph(metric_join_sentence(profile));
  document.paragraph(joined({requests_sentence(profile), load_sentence(profile)}, " "));
  document.paragraph(slow_requests_sentence(profile));
  document.paragraph(memory_sentence(profile));
  add_stage_overview(profile, document);
  if (profile.stages.empty()) document.paragraph(device_time_words(profile));
  document.warning(sentence(cpu_only_words(profile)));
  if (profile.kernels.empty() && !profile.operators.empty()) {
    document.add(operator_table(profile, top));
  } else if (!profile.kernels.empty()) {
    document.paragraph(ranked_scope_sentence(profile));
    document.add(kernel_overview_table(profile, top));
  }
  document.paragraph(
      other_kernels_sentence(ranked_kernels(profile), top, ranked_time_words(profile)));
  add_finding_overview(profile, document);
  document.paragraph(measured_words(profile));
  document.paragraph(overhead_words(profile));
  document.paragraph(collector_overhead_words(profile));
  add_section(Topic<"failed captures">(), profile, document);
  for (const Diagnostic& item : profile.diagnostics) {
    if (item.severity == Severity::info || is_damage(profile, item)) continue;
    document.warning(message_words(item));
  }
  return document;
}

}  // namespace llmprof::report
