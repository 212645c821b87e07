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
enum class Watch : uint8_t {
  only,     // CUPTI is never loaded
  besides,  // in addition to the recording
};
Variables watch_environment(const RunRequest& request, Watch watch);
// Loads the collector into the program's CUDA.
Variables injection_environment(const RunRequest& request);

capture::CaptureLimits recording_limits(const RunRequest& request);

// Writes the workload's own, unprofiled times to stage1/metrics.json, from the median of `repeats`
// runs, and returns the duration of a run. If the workload itself fails, this is an error: there is
// nothing to profile. A distributed job that failed is still recorded, since its failure may be
// what the user is looking for.
struct ControlRun {
  std::chrono::nanoseconds duration{0};
  std::optional<Error> job_failure;
};
Result<ControlRun> run_control(const RunRequest& request, const Artifacts& bundle);

// Runs the workload once more, untraced, while the driver reports its launches: for programs whose
// launches cannot be intercepted. Notes go to stage1/driver_calls.
capture::CaptureResult run_driver_calls(const RunRequest& request, const Artifacts& bundle);

// Our own log, collector/*.llmtrace. If the workload uses CUDA and the collector can record it
// here, a log without GPU work is a failure.
capture::CaptureResult run_collector(const RunRequest& request, const Artifacts& bundle);

// The workload's own torch.profiler pass, torch/trace.json.gz.
capture::CaptureResult run_torch(const RunRequest& request, const Artifacts& bundle);

// Our own log of nsys's pass. The collector needs an existing folder.
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

}  // namespace llmprof::session
