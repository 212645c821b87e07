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

// What one run of the workload gets through its environment (docs/workloads.md).
enum class Annotations : uint8_t {
  off,  // the control run
  on,   // ranges reach NVTX, and our own log in `log_folder` where there is one
};
Variables recording_environment(const RunRequest& request, const fs::path& metrics,
                                Annotations annotations, const fs::path& log_folder = {});

// What the collector gets in addition: its options, and to load itself into the program's CUDA
// and NVTX where this run records those (docs/collector.md).
Variables collector_environment(const RunRequest& request);

// The light watch (docs/collector.md): the collector is preloaded, and notes launches and waits.
// Empty where this run records no CUDA, and for a program that does not start with a preloaded
// library.
enum class Watch : uint8_t {
  only,     // CUPTI is never loaded
  besides,  // what is recorded
};
Variables watch_environment(const RunRequest& request, Watch watch);
// What loads the collector into the program's CUDA.
Variables injection_environment(const RunRequest& request);

capture::CaptureLimits recording_limits(const RunRequest& request);

// The workload's own times, unprofiled, into stage1/metrics.json: the median run of `repeats`.
// Gives how long a run takes. Where the workload itself fails there is nothing to profile.
// A distributed job that failed is recorded all the same: it may be what is to be found.
struct ControlRun {
  std::chrono::nanoseconds duration{0};
  std::optional<Error> job_failure;
};
Result<ControlRun> run_control(const RunRequest& request, const Artifacts& bundle);

// The workload once more, with nothing traced, while the driver reports its launches: for programs
// whose launches the light watch does not see. Notes go to stage1/driver_calls.
capture::CaptureResult run_driver_calls(const RunRequest& request, const Artifacts& bundle);

// Our own log, collector/*.llmtrace. Of a workload that uses CUDA, where the collector records that
// here, it is a failure that it holds no GPU work.
capture::CaptureResult run_collector(const RunRequest& request, const Artifacts& bundle);

// The workload's own torch.profiler pass, torch/trace.json.gz.
capture::CaptureResult run_torch(const RunRequest& request, const Artifacts& bundle);

// Our own log of what nsys watches: it records into a folder that exists.
inline constexpr std::string_view kNsysAnnotations = "nsys/annotations";

// What nsys and ncu are asked for.
capture::NsysRequest nsys_request(const RunRequest& request, const Artifacts& bundle);
capture::NcuRequest ncu_request(const RunRequest& request, const Artifacts& bundle);

// All recordings of a run, in their order.
enum class Recording : uint8_t { control, collector, driver_calls, nsys, ncu, torch_profiler };
struct RecordingRow {
  std::string_view name;                          // for people
  bool (*is_certain)(const RunRequest& request);  // others may follow from what these show
  std::chrono::milliseconds (*takes)(const RunRequest& request, std::chrono::milliseconds one_run);
  capture::CapturePlan (*plan)(const RunRequest& request, const Artifacts& bundle);
};
extern const std::array<RecordingRow, 6> kRecordings;  // by Recording

}  // namespace llmprof::session
