#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "session/run/run.h"

namespace llmprof::session {

// How long the recordings of a run take; 0 if it is not part of the run.
struct RunTime {
  std::chrono::milliseconds control{0};
  std::chrono::milliseconds collector{0};
  std::chrono::milliseconds driver_calls{0};  // where it is certain
  std::chrono::milliseconds nsys{0};
  std::chrono::milliseconds ncu{0};
  std::chrono::milliseconds torch_profiler{0};

  [[nodiscard]] std::chrono::milliseconds after_control() const {
    return collector + driver_calls + nsys + ncu + torch_profiler;
  }
  [[nodiscard]] std::chrono::milliseconds total() const { return control + after_control(); }
};

// Before a timeline has shown the kernels; `one_run`: of the workload, unprofiled.
RunTime estimate_run(const RunRequest& request, std::chrono::milliseconds one_run);

// Leaves out of the run what does not fit into `time`, the least important first: launches that ncu
// measures, ncu, torch.profiler. Gives what it changed, for people.
enum class FitFrom : uint8_t { start, after_control };
std::vector<std::string> fit_run(RunRequest& request, std::chrono::milliseconds one_run,
                                 std::chrono::milliseconds time, FitFrom from);

// "about 2 min 35 s: control run 25 s, collector 25 s, ncu 78 s, torch.profiler 27 s"
std::string run_time_words(const RunTime& time);
// "95 s", "2 min 35 s"
std::string duration_words(std::chrono::milliseconds time);

}  // namespace llmprof::session
