#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <memory>

#include "cli/command.h"
#include "report/kernel_report.h"
#include "report/terminal.h"
#include "session/analyze.h"

namespace llmprof {
namespace {

constexpr size_t kTerminalRows = 20;

struct Arguments {
  AnalyzeOptions options;
  bool json = false;
};

void show_progress(std::string_view what) {
  if (::isatty(STDERR_FILENO) != 0) fmt::print(stderr, "llmprof: {}\n", what);
}

int run(const Arguments& arguments) {
  const auto analysis = analyze(arguments.options, kVersion, show_progress);
  if (!analysis) return complain(analysis.error());
  if (arguments.json) {
    std::fwrite(analysis->json.data(), 1, analysis->json.size(), stdout);
  } else {
    const size_t rows = arguments.options.top.value_or(kTerminalRows);
    fmt::print("{}\n", to_terminal(kernel_overview(analysis->profile, rows)));
    fmt::print("Written: {} (kernels.md, profile.json)\n", analysis->folder.string());
  }
  // A full disk or a closed pipe behind stdout is the user's to know.
  if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) {
    return complain({ErrorKind::tool, "cannot write to standard output"});
  }
  return analysis->incomplete ? complain(*analysis->incomplete) : 0;
}

}  // namespace

void add_analyze_command(CLI::App& program, int& exit_code) {
  auto arguments = std::make_shared<Arguments>();
  CLI::App* command = program.add_subcommand(
      "analyze", "Rank the kernels of captures made by nsys, ncu or PyTorch");
  AnalyzeOptions& options = arguments->options;
  command
      ->add_option("PATH", options.inputs,
                   "Captures: a file, a run folder, or a folder of captures; several become one "
                   "profile (a timeline plus ncu metrics)")
      ->required();
  command->add_option("--out", options.out, "Folder for the bundle [tmp/analyze/<run id>]");
  command->add_flag("--force", options.force, "Write into a folder that is not empty");
  command->add_option("--top", options.top, "Show only the N longest kernels")
      ->check(CLI::PositiveNumber);
  command->add_option("--config-dir", options.config_folder,
                      "Your own conf folder, laid over the shipped one (kernels.yaml)");
  command->add_flag("--json", arguments->json, "Print profile.json instead of tables");
  command->footer("Example: llmprof analyze trace.sqlite ncu.csv --out profile");
  command->callback([arguments, &exit_code] { exit_code = run(*arguments); });
}

}  // namespace llmprof
