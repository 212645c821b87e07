#include "cli/diff_output.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdio>

#include "cli/analysis_output.h"
#include "cli/messages.h"
#include "report/diff/diff_report.h"
#include "report/terminal/terminal.h"
#include "report/terminal/wrap.h"

namespace llmprof::cli {

void print_diff(const session::DiffOutcome& outcome, bool json,
                const report::TerminalStyle& style) {
  if (json) {
    std::fwrite(outcome.json.data(), 1, outcome.json.size(), stdout);
    if (outcome.page.left_out) tell(*outcome.page.left_out);
    return;
  }
  fmt::print("{}\n", report::to_terminal(report::diff_overview(outcome.diff), style));
  const std::string files =
      fmt::format("{} ({})", outcome.folder.string(), fmt::join(outcome.files, ", "));
  fmt::print("{}\n", report::wrapped_behind("Written: ", "  ", files, style.width));
  print_page(outcome.page);
}

}  // namespace llmprof::cli
