#include "report/documents/kernel_overview.h"

#include <fmt/format.h>

#include <string>
#include <utility>
#include <vector>

#include "report/documents/capture_words.h"
#include "report/documents/kernel_report.h"
#include "report/documents/stage_overview.h"
#include "report/documents/unwatched_view.h"
#include "report/format/figures.h"
#include "report/format/part_names.h"
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
  for (const profile::Kernel& row : top_n_kernels(profile, top)) {
    std::vector<Cell> cells = {exact_ms(row.total), percent(row.share), grouped(row.calls),
                               exact_ms(row.mean)};
    if (several) cells.emplace_back(row.device);
    cells.emplace_back(std::string(shown_name(row.kernel_class)));
    cells.emplace_back(row.short_name);
    table.rows.push_back(std::move(cells));
  }
  return table;
}

void add_warnings(const profile::Profile& profile, Document& document) {
  for (const profile::Diagnostic& item : profile.diagnostics) {
    if (item.severity == "info") continue;
    std::string text = item.message;
    if (item.count > 1) text += fmt::format(" [{} times]", grouped(item.count));
    document.add(Callout{Callout::Kind::warning, std::move(text)});
  }
}

}  // namespace

Document kernel_overview(const profile::Profile& recorded, size_t top) {
  const profile::Profile profile = unwatched_view(recorded);
  Document document;
  document.add(Paragraph{captures_sentence(profile)});
  add_selection(profile, document);
  document.add(Paragraph{kernel_totals_sentence(profile)});
  add_sentence(metric_join_sentence(profile), document);
  add_stage_overview(profile, document);
  document.add(kernel_table(profile, top));
  add_sentence(other_kernels_sentence(profile, top), document);
  add_finding_overview(profile, document);
  add_sentence(measured_words(profile), document);
  add_sentence(overhead_words(profile), document);
  add_sentence(collector_overhead_words(profile), document);
  add_failed_captures(profile, document);
  add_warnings(profile, document);
  return document;
}

}  // namespace llmprof::report
