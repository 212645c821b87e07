#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "capture/recording.h"
#include "capture/tools.h"

namespace llmprof::capture {

// conf/profiling/nsys/*.yaml
struct NsysOptions {
  std::vector<std::string> trace = {"cuda", "nvtx", "osrt"};
  std::string sample = "none";  // none, process-tree (or cpu, its older name), system-wide
  // Capturing everything and slicing it offline is the safe default: a gated capture that never
  // starts leaves nothing.
  bool gating_nvtx = false;
  std::string capture_range = "none";           // none, nvtx, cudaProfilerApi; nvtx when gated
  std::string capture_range_end = "stop";       // stop, stop-shutdown, repeat[:N], ...
  std::string nvtx_capture = "decode_all@LLM";  // Range@Domain
  std::string cuda_graph_trace = "node";        // node, graph
  bool trace_fork_before_exec = true;
  std::vector<std::string> extra_arguments;
};

struct NsysRequest : CaptureRequest {
  NsysOptions options;
  ToolSearch search = tool_search_here();  // for QdstrmImporter
  std::filesystem::path annotations;  // an attempt's log folder, emptied before each; empty: none
};

// The values of --trace, one per attempt: as configured, then only cuda and nvtx, then cuda alone.
// No rung is repeated or empty, and none lacks nvtx if an NVTX range starts the capture.
std::vector<std::vector<std::string>> nsys_trace_ladder(const NsysOptions& options);

// `nsys profile ... -o OUTPUT` before the workload's argv. `trace` is the current rung of the
// ladder. Options that this version lacks are omitted.
std::vector<std::string> build_nsys_cmd(const InstalledTool& nsys, const NsysOptions& options,
                                        const std::vector<std::string>& trace,
                                        const std::filesystem::path& output,
                                        const std::vector<std::string>& work_argv);

CapturePlan plan_nsys(const InstalledTool& nsys, const NsysRequest& request);

// Profiles, rescues a stream that was not imported, and exports SQLite (run.sqlite) and statistics
// (summary_<report>.csv). Tries the next rung of the ladder if nsys itself fails. The failure gives
// the cause and a remedy; recorded data is kept in any case. run.sqlite and the report contain the
// environment of the user who started it, the report also arguments and environments of other
// processes on the machine: scrub run.sqlite, and do not publish the report.
CaptureResult capture_with_nsys(const InstalledTool& nsys, const NsysRequest& request);

// Its parts.

// Whether an NVTX range starts and ends the capture.
bool is_gated_by_nvtx(const NsysOptions& options);

// The recording of the workload into `work`/run.*. nsys keeps its scratch files there too, where
// the size limit sees them and a kill leaves them; the workload's own TMPDIR is unchanged.
WorkloadRecording nsys_recording(const InstalledTool& nsys, const NsysRequest& request,
                                 const std::vector<std::string>& trace,
                                 const std::filesystem::path& work);

// What an attempt wrote under the name that it was given.
enum class NsysOutput : uint8_t { none, empty, garbage, report };

struct NsysFailure {
  Error error;
  bool is_nsys_own = false;  // then another rung of the ladder may work
};

// Why an attempt failed; nothing if it succeeded.
std::optional<NsysFailure> judge_nsys_attempt(const NsysRequest& request,
                                              const CommandRecord& record, NsysOutput output);

// The statistics worth keeping, by this nsys's names for them (they changed after 2022), from the
// output of `nsys stats --help-reports`. Empty if it lists none of them.
std::vector<std::string> choose_nsys_reports(std::string_view help_reports);

// Removes the environment variables that nsys stored from one of our exports, except those with
// allowed names, and the secrets from its command lines. Returns how many were removed. A copy
// without them, and without the remnants that SQLite leaves in unused bytes, replaces the file; on
// an error the file is unchanged.
Result<uint64_t> scrub_environment(const std::filesystem::path& sqlite_export,
                                   const std::set<std::string>& allowed);

}  // namespace llmprof::capture
