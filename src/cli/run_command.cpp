#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>

#include "base/needed.h"
#include "cli/commands.h"
#include "cli/output.h"
#include "cli/progress_line.h"
#include "cli/stop_signals.h"
#include "report/diff/diff_report.h"
#include "report/writers/writers.h"
#include "session/run/recordings.h"
#include "session/run/repeats.h"
#include "session/run/run.h"

namespace llmprof::cli {
namespace {

void print_earlier_run(const std::optional<std::filesystem::path>& earlier) {
  if (earlier) print_message(fmt::format("the earlier run was moved to {}", earlier->string()));
}

void print_failures(const std::vector<profile::CaptureFailure>& failures) {
  for (const profile::CaptureFailure& failure : failures) {
    print_message(fmt::format("{}: {}", failure.backend, failure.message));
  }
}

int print_run(const session::RunOutcome& outcome, const Arguments& arguments) {
  if (outcome.analysis) print_analysis(*outcome.analysis, kTerminalRows, arguments);
  const int printed = finish_output();
  print_earlier_run(outcome.earlier);
  if (outcome.analysis) print_timings(outcome.analysis->timings, arguments);
  print_failures(outcome.failures);
  if (!outcome.failures.empty()) {
    if (outcome.not_analyzed) complain(*outcome.not_analyzed);
    print_message(fmt::format("what was recorded is kept in {}", outcome.folder.string()));
    return static_cast<int>(ErrorKind::tool);
  }
  if (outcome.not_analyzed) return complain(*outcome.not_analyzed);
  if (!outcome.analysis) return printed;  // a rank of a job that other ranks analyze
  if (outcome.analysis->not_exported) return complain(*outcome.analysis->not_exported);
  return printed;
}

// Options that set configuration keys follow the overrides: the last one wins.
std::vector<std::string> all_overrides(const Arguments& arguments) {
  std::vector<std::string> overrides = arguments.all("OVERRIDE");
  const auto set = [&](std::string_view key, std::string_view option) {
    if (const auto value = arguments.text(option))
      overrides.push_back(session::text_override(key, *value));
  };
  if (const auto mode = arguments.text("--mode")) overrides.push_back("run.mode=" + *mode);
  set("run.time_limit", "--time-limit");
  set("collector.duty", "--duty");
  set("collector.overhead_budget", "--overhead-budget");
  if (arguments.flag("--full")) {
    overrides.emplace_back("collector.duty=null");
    overrides.emplace_back("collector.overhead_budget=null");
  }
  set("collector.arm", "--arm");
  if (arguments.flag("--api")) overrides.emplace_back("collector.api=true");
  return overrides;
}

// If the user's shell loads the collector into every CUDA program, the recordings of a run must not
// inherit it: ncu refuses a program with that variable, and the run itself decides which recording
// loads the collector.
void forget_collector_of_shell() {
  for (const char* variable : {"CUDA_INJECTION64_PATH", "NVTX_INJECTION64_PATH"}) {
    const char* library = std::getenv(variable);
    if (library == nullptr) continue;
    if (std::filesystem::path(library).filename() == session::kCollectorFile) unsetenv(variable);
  }
}

session::RunArguments run_arguments(const Arguments& arguments) {
  session::RunArguments run;
  run.overrides = all_overrides(arguments);
  run.program = arguments.program();
  run.out = arguments.text("--out");
  run.config_folder = arguments.text("--config-dir");
  run.force = arguments.flag("--force");
  run.exports = exports_of(arguments);
  run.rank_folder = arguments.text("--rank-folder");
  if (const auto seconds = arguments.number("--wait-for-ranks")) {
    run.wait_for_ranks = std::chrono::seconds(*seconds);
  }
  return run;
}

int print_repeats(const session::RepeatOutcome& outcome, const Arguments& arguments) {
  if (outcome.diff) print_diff(*outcome.diff, arguments);
  if (!arguments.flag("--json")) {
    if (!outcome.diff && !outcome.base.empty() && !arguments.text("--against")) {
      print_rendered(report::to_terminal(report::spread_report(outcome.spread, outcome.on_cpu),
                                         arguments.style()) +
                     "\n");
    }
    for (const auto* side : {&outcome.base, &outcome.now}) {
      for (const std::filesystem::path& run : *side) {
        print_text(fmt::format("Recorded: {}\n", run.string()));
      }
    }
  }
  const int printed = finish_output();
  print_earlier_run(outcome.earlier);
  print_failures(outcome.failures);
  if (outcome.not_compared) complain(*outcome.not_compared);
  if (!outcome.failures.empty()) return static_cast<int>(ErrorKind::tool);
  if (outcome.not_compared) return static_cast<int>(outcome.not_compared->kind);
  if (printed != 0) return printed;
  return outcome.diff ? session::exit_code(outcome.diff->diff) : 0;
}

int print_plan(const session::RunRequest& request) {
  print_text(session::describe_plan(request, session::plan_run(request)));
  return finish_output();
}

int repeat_command(const Arguments& arguments) {
  session::RepeatArguments wanted;
  wanted.run = run_arguments(arguments);
  if (wanted.run.rank_folder) {
    return complain({ErrorKind::usage,
                     "--rank-folder records one run: --repeat and --against need `llmprof run -- "
                     "LAUNCHER ...`, which starts the job itself"});
  }
  wanted.repeats = static_cast<size_t>(arguments.number("--repeat").value_or(1));
  wanted.against = arguments.text("--against");
  if (arguments.flag("--dry-run")) {
    return print_plan(needed(session::make_repeat_request(wanted.run, &stop_wanted)));
  }
  stop_on_signals();
  const auto outcome = needed(with_progress(
      [&](Progress& progress) { return session::run_repeats(wanted, &stop_wanted, progress); }));
  return print_repeats(outcome, arguments);
}

}  // namespace

int run_command(const Arguments& arguments) {
  forget_collector_of_shell();
  if (arguments.number("--wait-for-ranks") && !arguments.text("--rank-folder")) {
    return complain({ErrorKind::usage, "--wait-for-ranks: is for --rank-folder DIR"});
  }
  if (arguments.number("--repeat") || arguments.text("--against")) {
    return repeat_command(arguments);
  }
  // Finding out which recordings are possible takes a while, because it runs the tools.
  const auto request = needed(with_progress([&](Progress& progress) {
    progress.begin("checking the tools");
    return session::make_run_request(run_arguments(arguments), &stop_wanted);
  }));
  if (arguments.flag("--dry-run")) return print_plan(request);
  stop_on_signals();
  const auto outcome =
      needed(with_progress([&](Progress& progress) { return session::run(request, progress); }));
  return print_run(outcome, arguments);
}

}  // namespace llmprof::cli
