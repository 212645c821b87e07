#include "report/documents/documents.h"

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

constexpr size_t kShownParts = 3;
constexpr size_t kShownFindings = 3;

std::string largest_parts(const profile::Stage& stage) {
  std::string text;
  const auto& budget = stage.shown.budget;
  for (size_t i = 0; budget && i < std::min(kShownParts, budget->size()); ++i) {
    const profile::BudgetPart& part = (*budget)[i];
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", shown_name(part.part),
                        percent(part.share));
  }
  return text;
}

Table stage_table(const profile::Profile& profile) {
  const bool used =
      std::any_of(profile.stages.begin(), profile.stages.end(),
                  [](const profile::Stage& stage) { return stage.mfu.wall || stage.mbu.wall; });
  Table table{{{"stage", Column::Kind::text, 1},
               {"count", Column::Kind::number, -1},
               {"wall_ms", Column::Kind::number, 1},
               {"busy/wall", Column::Kind::number},
               {"steps", Column::Kind::number, -1}}};
  if (used) {
    table.columns.push_back(number_column("MFU/wall"));
    table.columns.push_back(number_column("MBU/wall"));
  }
  table.columns.push_back(text_column("largest parts of wall"));
  for (const profile::Stage& stage : profile.stages) {
    auto& row = table.rows.emplace_back();
    const profile::StageShown& shown = stage.shown;
    row = {stage.name, grouped(shown.wall.count), mean_and_std(shown.wall),
           percent(shown.gpu_busy_share_of_wall), step_count_cell(stage)};
    if (used) {
      row.emplace_back(percent(shown.mfu.wall));
      row.emplace_back(percent(shown.mbu.wall));
    }
    row.emplace_back(largest_parts(stage));
  }
  return table;
}

// "Time per output token: 6.747 ms (mean of 3,008 tokens, up to 8 sequences). "
std::string serving_words(const profile::Profile& profile) {
  std::string text;
  for (const profile::TokenFigure& figure : shown_tokens(profile).figures) {
    const TokenFigureWords words = token_figure_words(profile, figure);
    text += sentence(fmt::format("{}: {} ms ({})", words.name, words.text, words.of)) + " ";
  }
  return text;
}

std::string token_words(const profile::Profile& profile) {
  if (is_serving(profile)) return serving_words(profile);
  const profile::TokenTimesShown& times = shown_tokens(profile);
  std::string text;
  if (times.time_to_first_token) {
    text += "Time to first token: " + typical_ms(*times.time_to_first_token, "prefill") + ". ";
  }
  if (times.time_per_output_token) {
    text += "Time per output token: " + typical_ms(*times.time_per_output_token, "decode") + ". ";
  }
  return text;
}

std::string finding_line(const profile::Finding& finding) {
  if (!finding.recoverable) {
    return fmt::format("{}. What to do: {}", finding.title, after_colon(sentence(finding.advice)));
  }
  const std::string per = per_unit(finding);
  return fmt::format("{}: up to {} ms{}{}, {} of {}'s wall time{}. What to do: {}", finding.title,
                     ms(finding.recoverable), per.empty() ? "" : " ", per,
                     percent(finding.share_of_wall), finding.stage.value_or("the timeline"),
                     profile::has_flag(finding.values, profile::kTracingIncluded)
                         ? ", tracing overhead included"
                         : "",
                     after_colon(sentence(finding.advice)));
}

}  // namespace

void add_stage_overview(const profile::Profile& profile, Document& document) {
  if (profile.stages.empty()) {
    if (profile.stages_found.reason) document.add(Paragraph{no_stages_words(profile)});
    return;
  }
  document.add(stage_table(profile));
  std::string text = token_words(profile);
  text += guess_sentence(profile);
  text += coverage_sentence(profile);
  if (!text.empty()) document.add(Paragraph{std::move(text)});
  // What a step is depends on it.
  for (const profile::Diagnostic& item : profile.diagnostics) {
    if (item.code == "speculative_decoding") document.add(Paragraph{sentence(item.message)});
  }
  for (std::string words : {served_words(profile), times_words(profile), mean_caveats(profile)}) {
    if (!words.empty()) document.add(Paragraph{std::move(words)});
  }
}

void add_finding_overview(const profile::Profile& profile, Document& document) {
  if (profile.findings.empty()) return;
  BulletList list;
  for (size_t i = 0; i < std::min(kShownFindings, profile.findings.size()); ++i) {
    list.items.push_back(finding_line(profile.findings[i]));
  }
  document.add(Paragraph{"Largest opportunities:"});
  document.add(std::move(list));
}

}  // namespace llmprof::report
