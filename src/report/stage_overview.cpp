#include "report/stage_overview.h"

#include <fmt/format.h>

#include <algorithm>

#include "report/numbers.h"
#include "report/typical.h"

namespace llmprof {
namespace {

constexpr size_t kShownParts = 3;
constexpr size_t kShownFindings = 3;

std::string largest_parts(const Reported& reported, const StageFacts& facts) {
  std::string text;
  for (size_t i = 0; i < std::min(kShownParts, facts.budget.size()); ++i) {
    if (!text.empty()) text += ", ";
    text += fmt::format("{} {}", reported.part_name(facts.budget[i].part),
                        percent(facts.budget[i].share));
  }
  return text;
}

bool any_utilization(const Reported& reported) {
  return std::any_of(reported.facts.stages.begin(), reported.facts.stages.end(),
                     [](const StageFacts& facts) {
                       return facts.utilization != nullptr &&
                              (facts.utilization->mfu_wall || facts.utilization->mbu_wall);
                     });
}

Table stage_table(const Reported& reported) {
  const bool used = any_utilization(reported);
  Table table;
  table.columns = {{"stage", Column::Kind::text, 1},
                   {"count", Column::Kind::number, -1},
                   {"wall_ms", Column::Kind::number, 1},
                   {"busy/wall", Column::Kind::number},
                   {"steps", Column::Kind::number, -1}};
  if (used) {
    table.columns.push_back(number_column("MFU/wall"));
    table.columns.push_back(number_column("MBU/wall"));
  }
  table.columns.push_back(text_column("largest parts of wall"));
  for (size_t i = 0; i < reported.stages.size(); ++i) {
    const Stage& stage = reported.stages[i];
    const StageFacts& facts = reported.facts.stages[i];
    auto& row = table.rows.emplace_back();
    row = {stage.name, grouped(stage.wall.count), mean_and_std(stage.wall),
           percent(facts.busy_share), step_count_words(stage, facts)};
    if (used) {
      const StageUtilization* use = facts.utilization;
      row.push_back(percent(use != nullptr ? use->mfu_wall : std::nullopt));
      row.push_back(percent(use != nullptr ? use->mbu_wall : std::nullopt));
    }
    row.push_back(largest_parts(reported, facts));
  }
  return table;
}

}  // namespace

void add_stage_overview(const Reported& reported, Document& document) {
  const Stages& stages = reported.profile.stages;
  if (stages.stages.empty()) {
    if (!stages.reason.empty()) {
      document.add(Paragraph{no_stages_words(reported.profile)});
    }
    return;
  }
  document.add(stage_table(reported));
  std::string text;
  if (stages.time_to_first_token) {
    text += fmt::format("First token after {}", typical_ms(*stages.time_to_first_token, "prefill"));
  }
  if (stages.time_per_output_token) {
    text += fmt::format(
        "{} output token {}", text.empty() ? "Each" : ", each",
        typical_ms(*stages.time_per_output_token, instance_name(reported.profile, "decode")));
  }
  if (!text.empty()) text += ". ";
  document.add(Paragraph{text + coverage_sentence(reported)});
}

void add_finding_overview(const Reported& reported, Document& document) {
  const auto& findings = reported.profile.findings;
  if (findings.empty()) return;
  BulletList list;
  for (size_t i = 0; i < std::min(kShownFindings, findings.size()); ++i) {
    const Finding& finding = findings[i];
    if (finding.blind) {
      list.items.push_back(fmt::format("{}. Do: {}", finding.title, sentence(finding.advice)));
      continue;
    }
    list.items.push_back(fmt::format("{}: up to {} ms {}, {} of {}'s wall. Do: {}", finding.title,
                                     ms(finding.recoverable), instance_words(reported.profile),
                                     percent(finding.share_of_wall), finding.stage,
                                     sentence(finding.advice)));
  }
  document.add(Paragraph{"Most to gain:"});
  document.add(std::move(list));
}

}  // namespace llmprof
