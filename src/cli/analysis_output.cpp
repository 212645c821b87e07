#include "cli/analysis_output.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdio>

#include "cli/messages.h"
#include "report/kernel_report.h"
#include "report/terminal/terminal.h"
#include "report/terminal/wrap.h"
#include "session/timings.h"

namespace llmprof {

void print_analysis(const Analysis& analysis, size_t kernel_rows, bool json,
                    const TerminalStyle& style) {
  if (json) {
    std::fwrite(analysis.json.data(), 1, analysis.json.size(), stdout);
    return;
  }
  fmt::print("{}\n", to_terminal(kernel_overview(analysis.profile, kernel_rows), style));
  const std::string files =
      fmt::format("{} ({})", analysis.folder.string(), fmt::join(analysis.files, ", "));
  fmt::print("{}\n", wrapped_behind("Written: ", "  ", files, style.width));
}

void print_timings(const Analysis& analysis) {
  Table table;
  table.columns = {{"part", Column::Kind::code, 1},
                   {"ms", Column::Kind::number, 1},
                   {"skipped because", Column::Kind::text}};
  for (const PartTiming& part : analysis.timings) {
    const double ms = std::chrono::duration<double, std::milli>(part.time).count();
    table.rows.push_back(
        {part.name, part.skipped ? "" : fmt::format("{:.1f}", ms), part.skipped.value_or("")});
  }
  Document document;
  document.add(std::move(table));
  tell("timings of the analysis\n" + to_terminal(document, message_style()));
}

}  // namespace llmprof
