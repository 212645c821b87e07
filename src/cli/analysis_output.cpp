#include "cli/analysis_output.h"
#include "base/text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdio>

#include "cli/messages.h"
#include "cli/output.h"
#include "report/documents/kernel_overview.h"
#include "report/terminal/terminal.h"
#include "report/terminal/wrap.h"
#include "session/analysis/timings.h"

namespace llmprof::cli {

void print_analysis(const session::Analysis& analysis, size_t kernel_rows, bool json,
                    const report::TerminalStyle& style) {
  if (json) {
    print_json(analysis.json);
    if (analysis.page.left_out) tell(*analysis.page.left_out);
    return;
  }
  print_rendered(
      report::to_terminal(report::kernel_overview(analysis.profile, kernel_rows), style) + "\n");
  const std::string files =
      fmt::format("{} ({})", analysis.folder.string(), fmt::join(analysis.files, ", "));
  print_text(report::wrapped_behind("Written: ", "  ", to_printable(files), style.width) + "\n");
  print_page(analysis.page);
}

void print_page(const session::PageOutcome& page) {
  if (page.file) print_text(fmt::format("Page: {}\n", page.file->string()));
  if (page.left_out) tell(*page.left_out);
}

void print_timings(std::span<const session::PartTiming> parts) {
  const bool any_skipped = std::any_of(
      parts.begin(), parts.end(), [](const session::PartTiming& part) { return part.skipped; });
  report::Table table;
  table.columns = {{"part", report::Column::Kind::code, 1},
                   {"ms", report::Column::Kind::number, 1}};
  if (any_skipped) table.columns.push_back({"skipped because", report::Column::Kind::text});
  for (const session::PartTiming& part : parts) {
    const double ms = std::chrono::duration<double, std::milli>(part.time).count();
    auto& row = table.rows.emplace_back();
    row = {part.name, part.skipped ? "" : fmt::format("{:.1f}", ms)};
    if (any_skipped) row.emplace_back(part.skipped.value_or(""));
  }
  report::Document document;
  document.add(std::move(table));
  tell("how long each part of the analysis took:");
  const std::string text = report::to_terminal(document, message_style());
  std::fwrite(text.data(), 1, text.size(), stderr);
}

}  // namespace llmprof::cli
