#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "capture/recording.h"
#include "capture/tools.h"

namespace llmprof::capture {

// The options that this ncu has, according to its own help: they depend on its version.
struct NcuFeatures {
  // Without --rename-kernels off, ncu shortens the names it prints, and differently from run to
  // run: they would not match the timeline's.
  bool renames_kernels = false;
  // --filter-mode per-launch-config counts launches per kernel and launch shape.
  bool counts_per_shape = false;
  bool has_config_file = false;  // the user's config.ncu-cfg could change anything
};

NcuFeatures features_in_help(std::string_view help);

// Queries ncu; no features if it does not answer.
NcuFeatures ncu_features(const InstalledTool& ncu);

// conf/profiling/ncu/*.yaml
struct NcuOptions {
  std::string target_processes = "all";
  bool gating_nvtx = true;
  std::vector<std::string> nvtx_include;  // Domain@Range/; empty: the stages' own
  std::string set = "roofline";           // empty: none
  std::vector<std::string> sections;
  std::vector<std::string> metrics;
  std::string replay_mode = "kernel";  // kernel, application, range, app-range
  // For launches that no timeline chose; chosen kernels are distinguished by symbol or demangled
  // name.
  std::string kernel_name_base = "demangled";
  uint64_t launches_per_shape = 3;  // of each chosen kernel in each of its launch shapes
  // ncu's own --launch-skip and --launch-count, over all matching launches, instead of the above.
  std::optional<uint64_t> launch_skip;
  std::optional<uint64_t> launch_count;
  std::string clock_control = "base";
  std::vector<std::string> extra_arguments;
  bool short_run = true;           // a workload that can do so runs only one short request
  bool stop_when_measured = true;  // the program is ended once its launches are measured
};

// One of the timeline's top kernels in one stage.
struct ChosenKernel {
  std::string name;          // demangled, in full, as in the timeline
  std::string symbol;        // the linker's name; empty: not in the timeline
  std::string stage;         // "prefill", "decode"; empty: no stages are known
  std::string nvtx_include;  // nvtx_include_expression of the range that the timeline saw it in;
                             // empty: in none
  uint64_t launches = 0;     // in that stage, according to the timeline
  uint64_t launches_before = 0;  // of the same name, before the stage started
  uint64_t distinct_shapes = 1;  // grid, block and shared memory, in that stage
};

struct NcuRequest : CaptureRequest {
  NcuOptions options;
  std::vector<ChosenKernel> kernels;                       // empty: no timeline, recorded unseeded
  std::optional<std::chrono::milliseconds> workload_time;  // unprofiled, for the estimate
  // The ncu folder of an interrupted run: stages that it finished with the same command are taken
  // from there. It is not changed.
  std::optional<std::filesystem::path> interrupted;
  // When to end, keeping what was measured until then.
  std::optional<std::chrono::steady_clock::time_point> until;
};

// ncu's planned commands, files and time, without running anything.
CapturePlan plan_ncu(const InstalledTool& ncu, const NcuRequest& request);

// Writes ncu/<stage>.ncu-rep, <stage>_raw.csv, raw.csv (their union) and sections.txt; until all
// stages are recorded also finished.txt, which lists the recorded ones (FinishedRuns).
CaptureResult capture_with_ncu(const InstalledTool& ncu, const NcuRequest& request);

}  // namespace llmprof::capture
