#include "cli/diff_output.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdio>

#include "report/diff/diff_report.h"
#include "report/terminal/terminal.h"
#include "report/terminal/wrap.h"

namespace llmprof::cli {

void print_diff(const session::DiffOutcome& outcome, bool json,
                const report::TerminalStyle& style) {
  if (json) {
    std::fwrite(outcome.json.data(), 1, outcome.json.size(), stdout);
    return;
  }
  fmt::print("{}\n", report::to_terminal(report::diff_overview(outcome.diff), style));
  const std::string files =
      fmt::format("{} ({})", outcome.folder.string(), fmt::join(outcome.files, ", "));
  fmt::print("{}\n", report::wrapped_behind("Written: ", "  ", files, style.width));
}

}  // namespace llmprof::cli
