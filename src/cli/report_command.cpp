#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/analysis_output.h"
#include "cli/commands.h"
#include "cli/export_options.h"
#include "cli/messages.h"
#include "cli/output.h"
#include "cli/progress_line.h"
#include "cli/version.h"
#include "session/analysis/rewrite_reports.h"

namespace llmprof::cli {
namespace {

Result<session::RewrittenReports> rewrite_watched(const session::RewriteOptions& options) {
  ProgressLine progress;
  progress.begin("writing the reports of " + options.source.string());
  return session::rewrite_reports(options, kVersion, progress);
}

}  // namespace

int report_command(const Arguments& arguments) {
  session::RewriteOptions options;
  options.source = arguments.path("PROFILE").value_or("");
  options.out = arguments.path("--out");
  options.top = arguments.number("--top");
  options.exports = exports_of(arguments);
  const auto written = rewrite_watched(options);
  if (!written) return complain(written.error());
  print_text(
      fmt::format("Written: {} ({})\n", written->folder.string(), fmt::join(written->files, ", ")));
  print_page(written->page);
  const int told = finish_output();
  return written->not_exported ? complain(*written->not_exported) : told;
}

}  // namespace llmprof::cli
