#include "report/documents/documents.h"

#include <fmt/format.h>

#include <algorithm>

#include "report/format/figures.h"
#include "report/sections/section_words.h"
#include "report/sections/sections.h"

namespace llmprof::report {
namespace {

constexpr size_t kPageFindings = 5;

void add_what_ran(const profile::Profile& profile, Document& document) {
  document.add(Paragraph{joined(executive_sentences(profile), " ")});
  if (profile.stages_found.confidence) {
    document.add(Paragraph{guess_sentence(profile) + "How they were found: " +
                           clause(profile.stages_found.reason.value_or(""))});
  }
}

void add_token_rates(const profile::Profile& profile, Document& document) {
  const profile::TokenTimesShown& times = shown_tokens(profile);
  Table table = table_of("output tokens | #tokens per second");
  if (times.tokens_per_s) table.rows.push_back({"of all sequences", in_unit(times.tokens_per_s)});
  if (times.tokens_per_s_per_sequence) {
    table.rows.push_back({"per sequence", in_unit(times.tokens_per_s_per_sequence)});
  }
  document.add_filled(std::move(table));
}

void add_stage_walls(const profile::Profile& profile, Document& document) {
  const bool none = profile.stages.empty();
  if (!document.begin(2, "Stages", none ? "Not known: " + why_no_stages(profile) : "")) return;
  document.add(table_of(
      fmt::format("stage | #{}s measured | #mean wall time without tracing (ms) | #mean wall time, "
                  "traced (ms) | #added by tracing, of the time without it",
                  instance_name(profile, "instance")),
      profile.stages, [](const profile::Stage& stage) {
        const auto& own = stage.unwatched;
        return cells(stage.name, grouped(stage.wall.count),
                     ms(own ? std::optional(own->wall) : std::nullopt), ms(stage.wall.mean),
                     percent(own ? std::optional(own->added_share) : std::nullopt));
      }));
  document.add(BulletList{left_out_words(profile)});
}

void add_uses(const profile::Profile& profile, Document& document) {
  const bool known = std::ranges::any_of(profile.stages, [](const auto& stage) {
    return stage.mfu.wall.has_value() || stage.mbu.wall.has_value();
  });
  if (!document.begin(2, "MFU and MBU", known ? "" : "Not known: " + why_no_utilization(profile))) {
    return;
  }
  document.add(use_table(
      "stage | #MFU, of peak FLOP/s on wall time | #MFU on busy time | #MBU, of peak bandwidth on "
      "wall time | #MBU on busy time | bound by | #lower bound (ms)",
      profile));
}

void add_top_findings(const profile::Profile& profile, Document& document) {
  const bool none = profile.findings.empty();
  if (!document.begin(2, "Findings", none ? "None: " + why_no_findings(profile) : "")) return;
  document.add(table_of(
      "finding | what to do | stage | #potential saving, up to (ms) | saved | #share of the "
      "stage's wall time",
      profile.findings,
      [](const profile::Finding& finding) {
        return cells(finding.title, finding.advice, or_missing(finding.stage),
                     ms(finding.recoverable), per_unit(finding),
                     percent(finding.stage ? std::optional(finding.share_of_wall) : std::nullopt));
      },
      kPageFindings));
  document.add(Paragraph{"Savings overlap, so they do not add up."});
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
  if (profile.coverage) document.begin(2, "Coverage", coverage_sentence(profile));
  add_section(Topic<"overhead">(), profile, document);
  add_section(Topic<"captures">(), profile, document);
  add_section(Topic<"engine">(), profile, document);
  add_section(Topic<"diagnostics">(), profile, document);
  return document;
}

}  // namespace llmprof::report
