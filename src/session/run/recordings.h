#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "capture/recording.h"
#include "session/bundle/run_dir.h"
#include "session/run/run.h"

namespace llmprof::session {

using Variables = std::vector<std::pair<std::string, std::string>>;
inline void append(const Variables& more, Variables& variables) {
  variables.insert(variables.end(), more.begin(), more.end());
}

// The environment for one run of the workload (docs/workloads.md).
enum class Annotations : uint8_t {
  off,  // the control run
  on,   // ranges reach NVTX, and our own log if `log_folder` is given
};
Variables recording_environment(const RunRequest& request, const fs::path& metrics,
                                Annotations annotations, const fs::path& log_folder = {});

// Additional variables for the collector: its options, and loading it into the program's CUDA and
// NVTX if this run records them (docs/collector.md).
Variables collector_environment(const RunRequest& request);

// The launch interceptor (docs/collector.md): the preloaded collector notes launches and waits.
// Empty if this run does not record CUDA, or the program does not start with a preloaded library.
enum class LaunchTiming : uint8_t {
  alone,           // CUPTI is never loaded
  beside_tracing,  // in addition to the recording
};
Variables launch_timing_environment(const RunRequest& request, LaunchTiming timing);
// Loads the collector into the program's CUDA.
Variables injection_environment(const RunRequest& request);

capture::CaptureLimits recording_limits(const RunRequest& request);

// Writes the workload's own, unprofiled times to stage1/metrics.json, from the median of `repeats`
// runs, and returns the duration of a run. If the workload itself fails, this is an error: there is
// nothing to profile. A distributed job that failed is still recorded, since its failure may be
// what the user is looking for, and so is a server whose load failed or was not held.
struct ControlRun {
  std::chrono::nanoseconds duration{0};
  std::optional<Error> failure;
};
Result<ControlRun> run_control(const RunRequest& request, const Artifacts& bundle);

// Runs the workload once more, untraced, while the driver reports its launches: for programs whose
// launches cannot be intercepted. Notes go to stage1/driver_calls.
capture::CaptureResult run_driver_calls(const RunRequest& request, const Artifacts& bundle);

// Our own log, collector/*.llmtrace. If the workload uses CUDA and the collector can record it
// here, a log without GPU work is a failure.
capture::CaptureResult run_collector(const RunRequest& request, const Artifacts& bundle);

// The workload's own recording by torch.profiler, torch/trace.json.gz.
capture::CaptureResult run_torch(const RunRequest& request, const Artifacts& bundle);

// Our own log of nsys's recording. The collector needs an existing folder.
inline constexpr std::string_view kNsysAnnotations = "nsys/annotations";

// The requests for nsys and ncu.
capture::NsysRequest nsys_request(const RunRequest& request, const Artifacts& bundle);
capture::NcuRequest ncu_request(const RunRequest& request, const Artifacts& bundle);

// All recordings of a run, in order.
enum class Recording : uint8_t { control, collector, driver_calls, nsys, ncu, torch_profiler };
struct RecordingRow {
  std::string_view name;                          // for messages
  bool (*is_certain)(const RunRequest& request);  // others may follow from the results of these
  std::chrono::milliseconds (*takes)(const RunRequest& request, std::chrono::milliseconds one_run);
  capture::CapturePlan (*plan)(const RunRequest& request, const Artifacts& bundle);
};
extern const std::array<RecordingRow, 6> kRecordings;  // by Recording

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
