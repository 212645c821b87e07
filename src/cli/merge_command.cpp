#include "cli/analysis_output.h"
#include "cli/commands.h"
#include "cli/messages.h"
#include "cli/output.h"
#include "cli/progress_line.h"
#include "cli/version.h"
#include "session/merge/merge.h"

namespace llmprof::cli {
namespace {

Result<session::Analysis> merge_watched(const session::MergeOptions& options) {
  ProgressLine progress;
  return session::merge(options, kVersion, progress);
}

}  // namespace

int merge_command(const Arguments& arguments) {
  session::MergeOptions options;
  for (std::string& path : arguments.all("PARTIAL")) options.inputs.emplace_back(std::move(path));
  options.out = arguments.path("--out");
  options.force = arguments.flag("--force");
  options.top = arguments.number("--top");
  options.config_folder = arguments.path("--config-dir");
  const auto analysis = merge_watched(options);
  if (!analysis) return complain(analysis.error());
  print_analysis(*analysis, options.top.value_or(kTerminalRows), arguments.flag("--json"),
                 arguments.style());
  const int told = finish_output();
  if (arguments.flag("--timings")) print_timings(analysis->timings);
  if (told != 0) return told;
  return analysis->incomplete ? complain(*analysis->incomplete) : 0;
}

}  // namespace llmprof::cli
