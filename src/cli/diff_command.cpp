#include "cli/analysis_output.h"
#include "cli/commands.h"
#include "cli/diff_output.h"
#include "cli/messages.h"
#include "cli/output.h"
#include "cli/progress_line.h"
#include "cli/version.h"
#include "session/diff/diff.h"

namespace llmprof::cli {
namespace {

session::DiffOptions diff_options(const Arguments& arguments) {
  session::DiffOptions options;
  options.base.push_back(arguments.path("BASE").value_or(""));
  options.now.push_back(arguments.path("NEW").value_or(""));
  for (std::string& path : arguments.all("--base")) options.base.emplace_back(std::move(path));
  for (std::string& path : arguments.all("--new")) options.now.emplace_back(std::move(path));
  options.gates = arguments.all("--gate");
  options.threshold = arguments.text("--threshold");
  options.out = arguments.path("--out");
  options.force = arguments.flag("--force");
  options.junit = arguments.path("--junit");
  options.summary = arguments.path("--summary");
  options.config_folder = arguments.path("--config-dir");
  return options;
}

Result<session::DiffOutcome> diff_watched(const session::DiffOptions& options) {
  ProgressLine progress;
  return session::diff(options, kVersion, progress);
}

}  // namespace

int diff_command(const Arguments& arguments) {
  const auto outcome = diff_watched(diff_options(arguments));
  if (!outcome) return complain(outcome.error());
  print_diff(*outcome, arguments.flag("--json"), arguments.style());
  if (arguments.flag("--timings")) print_timings(outcome->timings);
  if (const int told = finish_output(); told != 0) return told;
  return session::exit_code(outcome->diff);
}

}  // namespace llmprof::cli
