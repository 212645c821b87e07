#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/analysis_output.h"
#include "cli/commands.h"
#include "cli/export_options.h"
#include "cli/messages.h"
#include "cli/output.h"
#include "cli/progress_line.h"
#include "cli/version.h"
#include "session/analysis/analyze.h"

namespace llmprof::cli {
namespace {

session::AnalyzeOptions options_of(const Arguments& arguments) {
  const auto parallel = [&](std::string_view name) {
    return static_cast<uint32_t>(arguments.number(name).value_or(1));
  };
  session::AnalyzeOptions options;
  for (std::string& path : arguments.all("PATH")) options.inputs.emplace_back(std::move(path));
  options.out = arguments.path("--out");
  options.force = arguments.flag("--force");
  options.top = arguments.number("--top");
  options.exports = exports_of(arguments);
  options.config_folder = arguments.path("--config-dir");
  options.model = arguments.text("--model");
  options.gpu = arguments.text("--gpu");
  options.prompt_tokens = arguments.number("--prompt-tokens");
  options.new_tokens = arguments.number("--new-tokens");
  options.batch = arguments.number("--batch");
  options.tp = parallel("--tp");
  options.pp = parallel("--pp");
  options.ep = parallel("--ep");
  options.stage = arguments.text("--stage");
  options.steps = arguments.text("--steps");
  if (const auto device = arguments.number("--device")) {
    options.device = static_cast<uint32_t>(*device);
  }
  options.use_annotations = !arguments.flag("--no-annotations");
  return options;
}

Result<session::Analysis> analyze_watched(const session::AnalyzeOptions& options) {
  ProgressLine progress;
  return session::analyze(options, kVersion, progress);
}

Result<session::WrittenPartials> analyze_partially_watched(const session::AnalyzeOptions& options) {
  ProgressLine progress;
  return session::analyze_partially(options, kVersion, progress);
}

int write_partials(const session::AnalyzeOptions& options, bool timings) {
  const auto written = analyze_partially_watched(options);
  if (!written) return complain(written.error());
  print_text(
      fmt::format("Written: {} ({})\n", written->folder.string(), fmt::join(written->files, ", ")));
  const int told = finish_output();
  if (timings) print_timings(written->timings);
  if (told != 0) return told;
  return written->incomplete ? complain(*written->incomplete) : 0;
}

}  // namespace

int analyze_command(const Arguments& arguments) {
  const session::AnalyzeOptions options = options_of(arguments);
  if (arguments.flag("--partial")) return write_partials(options, arguments.flag("--timings"));
  const bool json = arguments.flag("--json");
  const bool timings = arguments.flag("--timings");
  const auto analysis = analyze_watched(options);
  if (!analysis) return complain(analysis.error());
  print_analysis(*analysis, options.top.value_or(kTerminalRows), json, arguments.style());
  const int told = finish_output();
  if (timings) print_timings(analysis->timings);
  if (told != 0) return told;
  if (analysis->not_exported) complain(*analysis->not_exported);
  if (analysis->incomplete) return complain(*analysis->incomplete);
  return analysis->not_exported ? static_cast<int>(analysis->not_exported->kind) : 0;
}

}  // namespace llmprof::cli
