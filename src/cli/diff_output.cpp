#include "cli/diff_output.h"
#include "base/text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdio>

#include "cli/analysis_output.h"
#include "cli/messages.h"
#include "cli/output.h"
#include "report/diff/diff_report.h"
#include "report/terminal/terminal.h"
#include "report/terminal/wrap.h"

namespace llmprof::cli {

void print_diff(const session::DiffOutcome& outcome, bool json,
                const report::TerminalStyle& style) {
  if (json) {
    print_json(outcome.json);
    if (outcome.page.left_out) tell(*outcome.page.left_out);
    return;
  }
  print_rendered(report::to_terminal(report::diff_overview(outcome.diff), style) + "\n");
  const std::string files =
      fmt::format("{} ({})", outcome.folder.string(), fmt::join(outcome.files, ", "));
  print_text(report::wrapped_behind("Written: ", "  ", to_printable(files), style.width) + "\n");
  print_page(outcome.page);
}

}  // namespace llmprof::cli
