#include <fmt/format.h>
#include <fmt/ranges.h>

#include <atomic>
#include <csignal>
#include <cstdio>
#include <memory>

#include "cli/command.h"
#include "report/kernel_report.h"
#include "report/terminal.h"
#include "session/run/request.h"

namespace llmprof {
namespace {

constexpr size_t kTerminalRows = 20;

struct Arguments {
  RunArguments run;
  std::optional<std::string> mode;
  bool dry_run = false;
  bool json = false;
};

// Set by a signal: what runs is ended then, and what was captured is kept.
std::atomic<bool> stop_wanted = false;
static_assert(std::atomic<bool>::is_always_lock_free);

extern "C" void want_stop(int /*signal*/) { stop_wanted.store(true); }

// A second signal ends llmprof at once, as it would without us.
void stop_on_signals() {
  struct sigaction action = {};
  action.sa_handler = want_stop;
  action.sa_flags = static_cast<int>(SA_RESETHAND);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) sigaction(signal, &action, nullptr);
}

void print_analysis(const Analysis& analysis, bool json) {
  if (json) {
    std::fwrite(analysis.json.data(), 1, analysis.json.size(), stdout);
    return;
  }
  fmt::print("{}\n", to_terminal(kernel_overview(analysis.profile, kTerminalRows)));
  fmt::print("Written: {} ({})\n", analysis.folder.string(), fmt::join(analysis.files, ", "));
}

int tell(const RunOutcome& outcome, bool json) {
  if (outcome.analysis) print_analysis(*outcome.analysis, json);
  const int told = finish_output();
  for (const CaptureFailure& failure : outcome.failures) {
    fmt::print(stderr, "llmprof: {}: {}\n", failure.backend, failure.message);
  }
  if (!outcome.failures.empty()) {
    if (outcome.not_analysed) complain(*outcome.not_analysed);
    fmt::print(stderr, "llmprof: what was captured is kept in {}\n", outcome.folder.string());
    return static_cast<int>(ErrorKind::tool);
  }
  return outcome.not_analysed ? complain(*outcome.not_analysed) : told;
}

int run_workload(Arguments arguments) {
  if (arguments.mode) arguments.run.overrides.push_back("run.mode=" + *arguments.mode);
  const auto request = make_run_request(arguments.run, kVersion, &stop_wanted);
  if (!request) return complain(request.error());
  if (arguments.dry_run) {
    fmt::print("{}", describe_plan(*request, plan_run(*request)));
    return finish_output();
  }
  stop_on_signals();
  const auto outcome = run(*request, show_progress);
  return outcome ? tell(*outcome, arguments.json) : complain(outcome.error());
}

}  // namespace

void add_run_command(CLI::App& program, std::vector<std::string> behind_dashes, int& exit_code) {
  auto arguments = std::make_shared<Arguments>();
  arguments->run.program = std::move(behind_dashes);
  CLI::App* command = program.add_subcommand(
      "run", "Profile a workload end to end: run it, capture it, say where its time goes");
  command->add_option("OVERRIDE", arguments->run.overrides,
                      "Configuration: key=value, +key=value, ~key, group=choice "
                      "(docs/configuration.md)");
  command->add_option("--mode", arguments->mode, "deep or light: short for run.mode=MODE");
  command->add_option("--out", arguments->run.out, "Folder for the bundle [tmp/stage2/<run id>]");
  command->add_flag("--force", arguments->run.force, "Write into a folder that is not empty");
  command->add_option("--config-dir", arguments->run.config_folder,
                      "Your own conf folder, laid over the shipped one");
  command->add_flag("--dry-run", arguments->dry_run,
                    "Print every command line, the files and the time expected; run nothing");
  command->add_flag("--json", arguments->json, "Print profile.json instead of tables");
  command->footer(
      "Examples:\n"
      "  llmprof run                               the default workload; no GPU needed\n"
      "  llmprof run model=llm/llama_1b            another model\n"
      "  llmprof run profiling/ncu=light workload.new_tokens=8\n"
      "  llmprof run pipeline.ncu.enable=false -- python3 serve_my_llm.py --port 8000");
  command->callback([arguments, &exit_code] { exit_code = run_workload(*arguments); });
}

}  // namespace llmprof
