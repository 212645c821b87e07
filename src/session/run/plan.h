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
  // Of one recording and all later ones.
  [[nodiscard]] std::chrono::milliseconds total(Recording from = Recording::control) const;
};

// An estimate before a timeline shows the kernels. `one_run` is an unprofiled run of the workload.
RunTime estimate_run(const RunRequest& request, std::chrono::milliseconds one_run);

// Removes from the run, whose next recording is `from`, what does not fit into `time`, the least
// important first: launches that ncu measures, ncu, torch.profiler. Returns its changes, as text.
std::vector<std::string> fit_run(RunRequest& request, std::chrono::milliseconds one_run,
                                 std::chrono::milliseconds time, Recording from);

// "about 2 min 35 s: control run 25 s, collector 25 s, ncu 78 s, torch.profiler 27 s"
std::string run_time_words(const RunTime& time);
// "95 s", "2 min 35 s"
std::string duration_words(std::chrono::milliseconds time);

// Everything that `run` would do, in order.
std::vector<capture::CapturePlan> plan_run(const RunRequest& request);

// The plan as text: every command line ready to paste, the expected files, the time.
std::string describe_plan(const RunRequest& request,
                          const std::vector<capture::CapturePlan>& plans);

// If a workload has more ranks than the machine has cores: a message that they share cores, and in
// how many runs. Such a run takes long and prints nothing meanwhile.
std::optional<std::string> crowded_ranks(const RunOptions& options, size_t runs);

}  // namespace llmprof::session
