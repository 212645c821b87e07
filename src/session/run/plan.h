#pragma once

#include <array>
#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "session/run/recordings.h"
#include "session/run/run.h"

namespace llmprof::session {

// How long each recording of a run takes; 0 if it is not part of the run.
struct RunTime {
  std::array<std::chrono::milliseconds, kRecordings.size()> of{};  // by Recording

  std::chrono::milliseconds operator[](Recording recording) const {
    return of.at(static_cast<size_t>(recording));
  }
  // Of one recording and all that follow it.
  [[nodiscard]] std::chrono::milliseconds total(Recording from = Recording::control) const;
};

// Before a timeline has shown the kernels; `one_run`: of the workload, unprofiled.
RunTime estimate_run(const RunRequest& request, std::chrono::milliseconds one_run);

// Leaves out of the run, whose next recording is `from`, what does not fit into `time`, the least
// important first: launches that ncu measures, ncu, torch.profiler. Gives what it changed, for
// people.
std::vector<std::string> fit_run(RunRequest& request, std::chrono::milliseconds one_run,
                                 std::chrono::milliseconds time, Recording from);

// "about 2 min 35 s: control run 25 s, collector 25 s, ncu 78 s, torch.profiler 27 s"
std::string run_time_words(const RunTime& time);
// "95 s", "2 min 35 s"
std::string duration_words(std::chrono::milliseconds time);

// Everything that `run` would do, in order.
std::vector<capture::CapturePlan> plan_run(const RunRequest& request);

// The plan for people: every command line ready to paste, the files expected, the time.
std::string describe_plan(const RunRequest& request,
                          const std::vector<capture::CapturePlan>& plans);

// Where a workload's ranks are more than the machine has cores: that they share them, and in how
// many runs. It takes long, and without a word.
std::optional<std::string> crowded_ranks(const RunOptions& options, size_t runs);

}  // namespace llmprof::session
