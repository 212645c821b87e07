#pragma once

#include <optional>
#include <string>
#include <vector>

#include "compare/compare.h"
#include "session/diff/diff.h"
#include "session/run/run.h"

namespace llmprof::session {

// A program recorded several times, alternating with another one if `against` is given: A B A B, so
// that drift (heat, other users of the machine) affects both equally.
struct RepeatArguments {
  RunArguments run;                    // `out` is the folder that holds all runs
  size_t repeats = 1;                  // of each program
  std::optional<std::string> against;  // a command line
};

struct RepeatOutcome {
  fs::path folder;
  std::optional<fs::path> earlier;  // new location of the folder's earlier content
  std::vector<fs::path> base;       // folders of the analyzed runs
  std::vector<fs::path> now;
  std::vector<profile::CaptureFailure> failures;  // of all runs
  std::vector<compare::Spread> spread;            // between the runs of a single program
  bool on_cpu = false;                            // its kernels ran on the CPU
  std::optional<DiffOutcome> diff;
  std::optional<Error> not_compared;  // why there is no comparison although one was requested
};

// Each run consists only of the control run and the collector: ncu and nsys slow a program down and
// do not help to compare runs.
Result<RunRequest> make_repeat_request(const RunArguments& arguments,
                                       const std::atomic<bool>* stop);

// Fails if there is no folder or the configuration is wrong; later failures are in the outcome.
Result<RepeatOutcome> run_repeats(const RepeatArguments& arguments, const std::atomic<bool>* stop,
                                  Progress& progress);

}  // namespace llmprof::session
