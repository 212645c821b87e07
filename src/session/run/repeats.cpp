#include "session/run/repeats.h"

#include <fmt/format.h>

#include "base/needed.h"
#include "base/text.h"
#include "compare/compare.h"
#include "session/bundle/run_dir.h"

namespace llmprof::session {
namespace {

// One of the two programs.
struct RepeatedSide {
  std::string name;  // prefix of its runs' folders: "base", "new"
  RunRequest request;
  std::vector<fs::path>* runs = nullptr;
};

void record(RepeatedSide& side, size_t number, Progress& progress, RepeatOutcome& outcome) {
  const std::string name = fmt::format("{}-{}", side.name, number);
  side.request.options.run_folder = outcome.folder / name;
  auto done = run(side.request, progress);
  if (!done) {
    outcome.failures.push_back({name, done.error().message});
    return;
  }
  for (profile::CaptureFailure& failure : done->failures) {
    outcome.failures.push_back({fmt::format("{}: {}", name, failure.backend), failure.message});
  }
  if (done->not_analyzed) {
    outcome.failures.push_back({name, done->not_analyzed->message});
  } else {
    side.runs->push_back(done->folder);
  }
}

// From the analyzed runs; if they cannot be read again, no spread is reported.
void measure_spread(const RepeatArguments& arguments, Progress& progress, RepeatOutcome& outcome) {
  if (outcome.base.empty()) return;
  std::vector<PartTiming> ignored;
  const auto runs = attempt(
      [&] { return read_side(outcome.base, arguments.run.config_folder, progress, ignored); });
  if (!runs) return;
  outcome.spread = compare::find_spread(*runs, compare::kDefaultThreshold);
  outcome.on_cpu = runs->front().profile.context.device_kind == profile::DeviceKind::cpu;
}

// The arguments of `COMMAND` for a run: split at blanks, or passed to a shell if necessary.
std::vector<std::string> program_of_command(const std::string& command) {
  // Characters that have a meaning for a shell.
  constexpr std::string_view kForShell = "|&;<>()$`\\\"'*?[]#~=%!{}\n";
  if (command.find_first_of(kForShell) != std::string::npos) return {"/bin/sh", "-c", command};
  std::vector<std::string> words;
  for (const std::string_view part : split(command, ' ')) {
    for (const std::string_view word : split(part, '\t')) {
      if (!word.empty()) words.emplace_back(word);
    }
  }
  return words;
}

RunRequest repeat_request(const RunArguments& arguments, const std::atomic<bool>* stop) {
  RunRequest request = needed(make_run_request(arguments, stop));
  if (!request.captures.keep_collector_alone()) {
    const bool off = !request.options.pipeline.collector;
    give_up(ErrorKind::usage,
            off ? "--repeat records with the collector, but pipeline.collector.enable=false "
                  "switches it off"
                : "--repeat records with the collector, which cannot record CUDA here "
                  "(`llmprof doctor` says what is missing); a program that computes on the CPU "
                  "needs workload.uses_cuda=false");
  }
  request.arguments.force = false;
  return request;
}

RepeatOutcome repeated(const RepeatArguments& arguments, const std::atomic<bool>* stop,
                       Progress& progress) {
  RepeatOutcome outcome;
  std::vector<RepeatedSide> sides;
  sides.push_back(
      {arguments.against ? "base" : "run", repeat_request(arguments.run, stop), &outcome.base});
  if (arguments.against) {
    RunArguments other = arguments.run;
    other.program = program_of_command(*arguments.against);
    if (other.program.empty()) give_up(ErrorKind::usage, "--against: the command is empty");
    sides.push_back({"new", repeat_request(other, stop), &outcome.now});
  }
  const RunFolder folder = create_run_folder(sides.front().request.options.stage2_folder,
                                             arguments.run.out.value_or(""), arguments.run.force);
  outcome.folder = folder.bundle.root();
  outcome.earlier = folder.earlier;
  const auto stopped = [&] { return stop != nullptr && stop->load(); };
  for (size_t number = 1; number <= arguments.repeats; ++number) {
    for (RepeatedSide& side : sides) {
      if (!stopped()) record(side, number, progress, outcome);
    }
  }
  if (stopped()) {
    outcome.failures.push_back({"run", "interrupted; the runs before are kept"});
  }
  if (!arguments.against) {
    measure_spread(arguments, progress, outcome);
    return outcome;
  }
  if (outcome.base.empty() || outcome.now.empty()) {
    outcome.not_compared = Error{ErrorKind::input, "a side has no run that could be analyzed"};
    return outcome;
  }
  DiffOptions options;
  options.base = outcome.base;
  options.now = outcome.now;
  options.out = outcome.folder / "diff";
  options.config_folder = arguments.run.config_folder;
  auto compared = diff(options, progress);
  if (compared) {
    outcome.diff = std::move(*compared);
  } else {
    outcome.not_compared = compared.error();
  }
  return outcome;
}

}  // namespace

Result<RunRequest> make_repeat_request(const RunArguments& arguments,
                                       const std::atomic<bool>* stop) {
  return attempt([&] { return repeat_request(arguments, stop); });
}

Result<RepeatOutcome> run_repeats(const RepeatArguments& arguments, const std::atomic<bool>* stop,
                                  Progress& progress) {
  return attempt([&] { return repeated(arguments, stop, progress); });
}

}  // namespace llmprof::session
