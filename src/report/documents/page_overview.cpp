#include "report/documents/documents.h"

#include <fmt/format.h>

#include <algorithm>

#include "report/format/figures.h"
#include "report/format/sentences.h"
#include "report/sections/reasons.h"
#include "report/sections/section_words.h"
#include "report/sections/sections.h"

namespace llmprof::report {
namespace {

constexpr size_t kPageFindings = 5;

void add_what_ran(const profile::Profile& profile, Document& document) {
  std::string text;
  for (const std::string& each : executive_sentences(profile)) {
    text += (text.empty() ? "" : " ") + each;
  }
  if (!text.empty()) document.add(Paragraph{std::move(text)});
  if (profile.stages_found.confidence) {
    document.add(Paragraph{guess_sentence(profile) + "How they were found: " +
                           clause(profile.stages_found.reason.value_or(""))});
  }
}

void add_token_rates(const profile::Profile& profile, Document& document) {
  const profile::TokenTimesShown& times = shown_tokens(profile);
  if (!times.tokens_per_s && !times.tokens_per_s_per_sequence) return;
  Table table{columns("output tokens | #tokens per second")};
  if (times.tokens_per_s) {
    table.rows.push_back({std::string("of all sequences"), rate(times.tokens_per_s)});
  }
  if (times.tokens_per_s_per_sequence) {
    table.rows.push_back({std::string("per sequence"), rate(times.tokens_per_s_per_sequence)});
  }
  document.add(std::move(table));
}

void add_stage_walls(const profile::Profile& profile, Document& document) {
  document.add(Heading{2, "Stages"});
  if (profile.stages.empty()) {
    document.add(Paragraph{"Not known: " + why_no_stages(profile)});
    return;
  }
  Table table{{text_column("stage"),
               number_column(fmt::format("{}s measured", instance_name(profile, "instance"))),
               number_column("mean wall time, unwatched (ms)"),
               number_column("mean wall time, traced (ms)"),
               number_column("added by tracing, of the unwatched time")}};
  for (const profile::Stage& stage : profile.stages) {
    const auto& own = stage.unwatched;
    table.rows.push_back({stage.name, grouped(stage.wall.count),
                          ms(own ? std::optional(own->wall) : std::nullopt), ms(stage.wall.mean),
                          percent(own ? std::optional(own->added_share) : std::nullopt)});
  }
  document.add(std::move(table));
  if (std::vector<std::string> left_out = left_out_words(profile); !left_out.empty()) {
    document.add(BulletList{std::move(left_out)});
  }
}

void add_uses(const profile::Profile& profile, Document& document) {
  document.add(Heading{2, "MFU and MBU"});
  const bool known =
      std::any_of(profile.stages.begin(), profile.stages.end(), [](const profile::Stage& stage) {
        return stage.mfu.wall.has_value() || stage.mbu.wall.has_value();
      });
  if (!known) {
    document.add(Paragraph{"Not known: " + why_no_utilization(profile)});
    return;
  }
  Table table{columns(
      "stage | #MFU, of peak FLOP/s on wall time | #MFU on busy time | #MBU, of peak bandwidth on "
      "wall time | #MBU on busy time | bound by | #lower bound (ms)")};
  for (const profile::Stage& stage : profile.stages) {
    const profile::StageShown& shown = stage.shown;
    table.rows.push_back({stage.name, percent(shown.mfu.wall), percent(shown.mfu.gpu_busy),
                          percent(shown.mbu.wall), percent(shown.mbu.gpu_busy), bound_words(stage),
                          ms(known_floor(stage))});
  }
  document.add(std::move(table));
}

void add_top_findings(const profile::Profile& profile, Document& document) {
  document.add(Heading{2, "Findings"});
  if (profile.findings.empty()) {
    document.add(Paragraph{"None: " + why_no_findings(profile)});
    return;
  }
  Table table{columns(
      "finding | what to do | stage | #potential saving, up to (ms) | saved | #share of the "
      "stage's wall time")};
  for (size_t i = 0; i < std::min(kPageFindings, profile.findings.size()); ++i) {
    const profile::Finding& finding = profile.findings[i];
    table.rows.push_back(
        {finding.title, finding.advice, or_missing(finding.stage), ms(finding.recoverable),
         per_unit(finding),
         percent(finding.stage ? std::optional(finding.share_of_wall) : std::nullopt)});
  }
  document.add(std::move(table));
  document.add(Paragraph{"Savings overlap, so they do not add up."});
}

void add_coverage(const profile::Profile& profile, Document& document) {
  if (std::string words = coverage_sentence(profile); !words.empty()) {
    document.add(Heading{2, "Coverage"});
    document.add(Paragraph{std::move(words)});
  }
}

}  // namespace

std::string page_title(const profile::Profile& profile) {
  std::string model =
      profile.model ? profile.model->name.value_or("LLM inference") : "LLM inference";
  const auto& devices = profile.totals.devices;
  if (devices.empty() || !devices.front().name) return model;
  const uint64_t count = profile.totals.gpu_count;
  return fmt::format("{} on {}{}", model, count > 1 ? fmt::format("{} x ", count) : "",
                     *devices.front().name);
}

Document page_overview(const profile::Profile& profile) {
  Document document;
  document.add(Heading{1, page_title(profile)});
  add_damage(profile, document);
  add_selection(profile, document);
  add_section(Topic<"failed captures">(), profile, document);
  add_what_ran(profile, document);
  add_section(Topic<"key figures">(), profile, document);
  add_token_rates(profile, document);
  add_stage_walls(profile, document);
  add_uses(profile, document);
  add_section(Topic<"time budget">(), profile, document);
  add_section(Topic<"job">(), profile, document);
  add_top_findings(profile, document);
  add_coverage(profile, document);
  add_section(Topic<"overhead">(), profile, document);
  add_section(Topic<"captures">(), profile, document);
  add_section(Topic<"engine">(), profile, document);
  add_section(Topic<"diagnostics">(), profile, document);
  return document;
}

}  // namespace llmprof::report
