#pragma once

#include <optional>
#include <string>
#include <vector>

#include "compare/spread/spread.h"
#include "session/diff/diff.h"
#include "session/run/run.h"

namespace llmprof::session {

// A program recorded several times, in turn with another where `against` is given: A B A B, so that
// what drifts meanwhile (heat, other users of the machine) meets both alike.
struct RepeatArguments {
  RunArguments run;                    // `out` is the folder that holds all runs
  size_t repeats = 1;                  // of each program
  std::optional<std::string> against;  // a command line
};

struct RepeatOutcome {
  fs::path folder;
  std::optional<fs::path> earlier;  // where what was in the folder before is
  std::vector<fs::path> base;       // folders of runs that were analyzed
  std::vector<fs::path> now;
  std::vector<profile::CaptureFailure> failures;  // of all runs
  std::vector<compare::Spread> spread;            // of one program's runs, without another
  bool on_cpu = false;                            // its kernels ran on the CPU
  std::optional<DiffOutcome> diff;
  std::optional<Error> not_compared;  // why there is none, where one was asked for
};

// What each run does: the control run and the collector alone. ncu and nsys slow a program, and
// what differs is not what they tell.
Result<RunRequest> make_repeat_request(const RunArguments& arguments,
                                       const std::atomic<bool>* stop);

// Errors mean that there is no folder, or that the configuration is wrong; what fails later is in
// the outcome.
Result<RepeatOutcome> run_repeats(const RepeatArguments& arguments, const std::atomic<bool>* stop,
                                  Progress& progress);

}  // namespace llmprof::session
