#include <fmt/format.h>
#include <fmt/ranges.h>

#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>

#include "cli/command.h"
#include "report/documents/kernel_overview.h"
#include "report/terminal.h"
#include "session/run/program_files.h"
#include "session/run/request.h"

namespace llmprof::cli {
namespace {

constexpr size_t kTerminalRows = 20;

struct Arguments {
  session::RunArguments run;
  std::optional<std::string> mode;
  std::optional<std::string> duty;
  std::optional<std::string> overhead_budget;
  std::optional<std::string> arm;
  bool api = false;
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

void print_analysis(const session::Analysis& analysis, bool json) {
  if (json) {
    std::fwrite(analysis.json.data(), 1, analysis.json.size(), stdout);
    return;
  }
  fmt::print("{}\n", report::to_terminal(report::kernel_overview(analysis.profile, kTerminalRows)));
  fmt::print("Written: {} ({})\n", analysis.folder.string(), fmt::join(analysis.files, ", "));
}

int tell(const session::RunOutcome& outcome, bool json) {
  if (outcome.analysis) print_analysis(*outcome.analysis, json);
  const int told = finish_output();
  for (const profile::CaptureFailure& failure : outcome.failures) {
    fmt::print(stderr, "llmprof: {}: {}\n", failure.backend, failure.message);
  }
  if (!outcome.failures.empty()) {
    if (outcome.not_analyzed) complain(*outcome.not_analyzed);
    fmt::print(stderr, "llmprof: what was captured is kept in {}\n", outcome.folder.string());
    return static_cast<int>(ErrorKind::tool);
  }
  return outcome.not_analyzed ? complain(*outcome.not_analyzed) : told;
}

// Options that stand for settings come behind the words: the last one said holds.
std::vector<std::string> all_overrides(const Arguments& arguments) {
  std::vector<std::string> overrides = arguments.run.overrides;
  const auto set = [&](std::string_view key, const std::optional<std::string>& value) {
    if (value) overrides.push_back(session::text_override(key, *value));
  };
  if (arguments.mode) overrides.push_back("run.mode=" + *arguments.mode);
  set("collector.duty", arguments.duty);
  set("collector.overhead_budget", arguments.overhead_budget);
  set("collector.arm", arguments.arm);
  if (arguments.api) overrides.emplace_back("collector.api=true");
  return overrides;
}

// Where the user's shell loads the collector into all that uses CUDA, the passes of a run must not
// inherit it: ncu refuses a program that has the variable, and the run itself says which pass has
// it.
void forget_collector_of_shell() {
  for (const char* variable : {"CUDA_INJECTION64_PATH", "NVTX_INJECTION64_PATH"}) {
    const char* library = std::getenv(variable);
    if (library == nullptr) continue;
    if (std::filesystem::path(library).filename() == session::kCollectorFile) unsetenv(variable);
  }
}

int run_workload(Arguments arguments) {
  forget_collector_of_shell();
  arguments.run.overrides = all_overrides(arguments);
  const auto request = session::make_run_request(arguments.run, kVersion, &stop_wanted);
  if (!request) return complain(request.error());
  if (arguments.dry_run) {
    fmt::print("{}", session::describe_plan(*request, session::plan_run(*request)));
    return finish_output();
  }
  stop_on_signals();
  const auto outcome = run(*request, show_progress);
  return outcome ? tell(*outcome, arguments.json) : complain(outcome.error());
}

// Of the collector, on a GPU.
void add_collector_options(CLI::App& command, Arguments& arguments) {
  constexpr const char* kGroup = "What the collector records of CUDA";
  command
      .add_option("--duty", arguments.duty,
                  "Trace T of every P steps (4/32); N: 4 of every 4*N. The run then measures what "
                  "tracing costs")
      ->type_name("T/P|N")
      ->group(kGroup);
  command
      .add_option("--overhead-budget", arguments.overhead_budget,
                  "Percent that tracing may cost (2%): the collector chooses the duty")
      ->type_name("P%")
      ->group(kGroup);
  command
      .add_option("--arm", arguments.arm,
                  "Record while this range is open (LLM@decode_all); command: from `llmprof arm "
                  "PID` on [start]")
      ->type_name("RANGE|command")
      ->group(kGroup);
  command
      .add_flag("--api", arguments.api, "Every CUDA call, not launches and synchronisation alone")
      ->group(kGroup);
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
  add_collector_options(*command, *arguments);
  command->footer(
      "Examples:\n"
      "  llmprof run                               the default workload; no GPU needed\n"
      "  llmprof run model=llm/llama_1b            another model\n"
      "  llmprof run profiling/ncu=light workload.new_tokens=8\n"
      "  llmprof run --overhead-budget 2% model=llm/llama_1b\n"
      "  llmprof run pipeline.ncu.enable=false -- python3 serve_my_llm.py --port 8000");
  command->callback([arguments, &exit_code] { exit_code = run_workload(*arguments); });
}

}  // namespace llmprof::cli
