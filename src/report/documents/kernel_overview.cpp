#include "report/documents/documents.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "report/format/figures.h"
#include "report/format/part_names.h"
#include "report/format/sentences.h"
#include "report/sections/ranked_kernels.h"
#include "report/sections/reasons.h"
#include "report/sections/section_words.h"
#include "report/sections/sections.h"

namespace llmprof::report {
namespace {

void add_sentence(std::string words, Document& document) {
  if (!words.empty()) document.add(Paragraph{std::move(words)});
}

Table kernel_table(const profile::Profile& profile, size_t top) {
  const bool several = profile.totals.devices.size() > 1;
  Table table;
  // On a narrow terminal the columns with the lowest priority are left out first.
  table.columns = {{"total_ms", Column::Kind::number, 1},
                   {"share", Column::Kind::number},
                   {"calls", Column::Kind::number, -2},
                   {"mean_ms", Column::Kind::number, -3}};
  if (several) table.columns.push_back(text_column("device"));
  table.columns.push_back({"class", Column::Kind::text, -1});
  table.columns.push_back({"kernel", Column::Kind::code, 1});
  const std::vector<RankedKernel> ranked = ranked_kernels(profile);
  for (size_t i = 0; i < std::min(top, ranked.size()); ++i) {
    const RankedKernel& row = ranked[i];
    std::vector<Cell> cells = {exact_ms(row.total), percent(row.share), grouped(row.calls),
                               exact_ms(row.mean)};
    if (several) cells.emplace_back(row.kernel->device);
    cells.emplace_back(std::string(shown_name(row.kernel->kernel_class)));
    cells.emplace_back(row.kernel->short_name);
    table.rows.push_back(std::move(cells));
  }
  return table;
}

// What the table is of, where that is not the whole capture.
std::string ranked_scope_sentence(const profile::Profile& profile) {
  if (!ranks_measured_kernels(profile)) return {};
  std::string others;
  for (const profile::KernelScope& scope : profile.totals.scopes) {
    if (scope.scope == profile::Scope::measured || scope.kernel_count == 0) continue;
    others += fmt::format("{}{} {} ms", others.empty() ? "" : ", ", to_string(scope.scope),
                          ms(scope.kernel_sum));
  }
  return fmt::format("Kernels of the measured stages{}.",
                     others.empty() ? "" : fmt::format(" (not among them: {})", others));
}

std::string other_ranked_kernels_sentence(const profile::Profile& profile, size_t shown) {
  const std::vector<RankedKernel> ranked = ranked_kernels(profile);
  if (shown >= ranked.size()) return {};
  double rest = 0;
  double share = 0;
  for (size_t i = shown; i < ranked.size(); ++i) {
    rest += ranked[i].total.value;
    if (ranked[i].share) share += ranked[i].share->value;
  }
  return fmt::format("Not shown: {}, {} ms ({} of {}); profile.json has all.",
                     counted(ranked.size() - shown, "more kernel"),
                     exact_ms(profile::Milliseconds{rest}), percent(profile::Share{share}),
                     ranked_time_words(profile));
}

void add_warnings(const profile::Profile& profile, Document& document) {
  for (const profile::Diagnostic& item : profile.diagnostics) {
    if (item.severity == "info" || is_damage(profile, item)) continue;
    std::string text = item.message;
    if (item.count > 1) text += fmt::format(" [{} times]", grouped(item.count));
    document.add(Callout{Callout::Kind::warning, std::move(text)});
  }
}

}  // namespace

Document kernel_overview(const profile::Profile& profile, size_t top) {
  Document document;
  add_damage(profile, document);
  document.add(Paragraph{captures_sentence(profile)});
  add_selection(profile, document);
  document.add(Paragraph{kernel_totals_sentence(profile)});
  for (std::string& each : job_sentences(profile)) document.add(Paragraph{std::move(each)});
  if (profile.engine.name != profile::kUnknownEngine) {
    document.add(Paragraph{"Engine: " + engine_words(profile) + "."});
  }
  add_sentence(metric_join_sentence(profile), document);
  add_stage_overview(profile, document);
  if (profile.stages.empty()) add_sentence(device_time_words(profile), document);
  if (const std::string why = cpu_only_words(profile); !why.empty()) {
    document.add(Callout{Callout::Kind::warning, sentence(why)});
  }
  if (profile.kernels.empty() && !profile.operators.empty()) {
    document.add(operator_table(profile, top));
  } else if (!profile.kernels.empty()) {
    add_sentence(ranked_scope_sentence(profile), document);
    document.add(kernel_table(profile, top));
  }
  add_sentence(other_ranked_kernels_sentence(profile, top), document);
  add_finding_overview(profile, document);
  add_sentence(measured_words(profile), document);
  add_sentence(overhead_words(profile), document);
  add_sentence(collector_overhead_words(profile), document);
  add_section(Topic<"failed captures">(), profile, document);
  add_warnings(profile, document);
  return document;
}

}  // namespace llmprof::report
