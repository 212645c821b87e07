#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "capture/recording.h"
#include "capture/tools.h"

namespace llmprof::capture {

// conf/profiling/nsys/*.yaml
struct NsysOptions {
  std::vector<std::string> trace = {"cuda", "nvtx", "osrt"};
  std::string sample = "none";  // none, process-tree (or cpu, its older name), system-wide
  // Capture all and slice offline is the safe default; gated captures that never start leave
  // nothing at all.
  bool gating_nvtx = false;
  std::string capture_range = "none";           // none, nvtx, cudaProfilerApi; nvtx when gated
  std::string capture_range_end = "stop";       // stop, stop-shutdown, repeat[:N], ...
  std::string nvtx_capture = "decode_all@LLM";  // Range@Domain
  std::string cuda_graph_trace = "node";        // node, graph
  bool trace_fork_before_exec = true;
  std::vector<std::string> extra_arguments;
};

struct NsysRequest {
  NsysOptions options;
  WorkloadCommand workload;
  std::filesystem::path bundle;  // files go to bundle/nsys
  CaptureLimits limits;
  std::vector<std::pair<std::string, std::string>> environment;  // for the workload alone
  ToolSearch search = tool_search_here();                        // for QdstrmImporter
  std::filesystem::path annotations;  // emptied before each attempt, whose log it is; empty: none
};

// What --trace says, attempt by attempt: as configured, then without all but cuda and nvtx, then
// cuda alone; no rung twice, none empty, and none without nvtx where an NVTX range starts it all.
std::vector<std::vector<std::string>> nsys_trace_ladder(const NsysOptions& options);

// `nsys profile ... -o OUTPUT` in front of the workload's argv. `trace` is the rung of the ladder
// in use. Options that this version lacks are left out.
std::vector<std::string> build_nsys_cmd(const InstalledTool& nsys, const NsysOptions& options,
                                        const std::vector<std::string>& trace,
                                        const std::filesystem::path& output,
                                        const std::vector<std::string>& work_argv);

CapturePlan plan_nsys(const InstalledTool& nsys, const NsysRequest& request);

// Profiles, rescues a stream that was not imported, exports SQLite (run.sqlite) and the statistics
// (summary_<report>.csv). Climbs down the ladder where nsys itself fails. The failure says which of
// its ways to fail it was and what helps; what was recorded is kept in any case. run.sqlite and the
// report hold the environment of whoever started it, the report also arguments and the environments
// of other processes on the machine: scrub the one, do not publish the other.
CaptureResult capture_with_nsys(const InstalledTool& nsys, const NsysRequest& request);

// The parts of it.

// Whether an NVTX range starts and ends the capture.
bool is_gated_by_nvtx(const NsysOptions& options);

// The recording of the workload into `work`/run.*. nsys keeps its scratch files there too,
// where the size limit sees them and a kill leaves them; the workload's own TMPDIR stays.
WorkloadRecording nsys_recording(const InstalledTool& nsys, const NsysRequest& request,
                                 const std::vector<std::string>& trace,
                                 const std::filesystem::path& work);

// What an attempt left under the name that it was given.
enum class NsysOutput : uint8_t { none, empty, garbage, report };

struct NsysFailure {
  Error error;
  bool is_nsys_own = false;  // then another rung of the ladder may do better
};

// Why an attempt failed, or nothing where it succeeded.
std::optional<NsysFailure> judge_nsys_attempt(const NsysRequest& request,
                                              const CommandRecord& record, NsysOutput output);

// The statistics worth keeping, by the names that this nsys has for them (they changed after
// 2022), of what `nsys stats --help-reports` printed. Empty where it printed none of them.
std::vector<std::string> choose_nsys_reports(std::string_view help_reports);

}  // namespace llmprof::capture
