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

// The options that this ncu has, according to its own help: they come with the versions.
struct NcuFeatures {
  // Without --rename-kernels off, ncu shortens the names it prints, and differently from run to
  // run: they would not be the timeline's.
  bool renames_kernels = false;
  // --filter-mode per-launch-config counts launches per kernel and launch shape.
  bool counts_per_shape = false;
  bool has_config_file = false;  // a config.ncu-cfg of the user's could change anything
};

NcuFeatures features_in_help(std::string_view help);

// Asks it; nothing where it does not answer.
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
  // Of launches that no timeline chose; chosen kernels are distinguished by symbol or demangled
  // name.
  std::string kernel_name_base = "demangled";
  uint64_t launches_per_shape = 3;  // of each chosen kernel in each of its launch shapes
  // ncu's own --launch-skip and --launch-count, over all matching launches, instead of the above.
  std::optional<uint64_t> launch_skip;
  std::optional<uint64_t> launch_count;
  std::string clock_control = "base";
  std::vector<std::string> extra_arguments;
  bool short_run = true;           // a workload that can do so runs one short request
  bool stop_when_measured = true;  // the program is ended once its launches are measured
};

// One of the timeline's top kernels in one stage.
struct ChosenKernel {
  std::string name;          // demangled, in full, as the timeline has it
  std::string symbol;        // as the linker knows it; empty: the timeline does not say
  std::string stage;         // "prefill", "decode"; empty: no stages are known
  std::string nvtx_include;  // nvtx_include_expression of the range that the timeline saw it in;
                             // empty: in none
  uint64_t launches = 0;     // the timeline's, in that stage
  uint64_t launches_before = 0;  // of the same name, before the stage began
  uint64_t distinct_shapes = 1;  // grid, block and shared memory, in that stage
};

struct NcuRequest {
  NcuOptions options;
  WorkloadCommand workload;
  std::filesystem::path bundle;  // files go to bundle/ncu
  CaptureLimits limits;
  std::vector<std::pair<std::string, std::string>> environment;  // for the workload alone
  std::vector<ChosenKernel> kernels;                       // empty: no timeline, recorded unseeded
  std::optional<std::chrono::milliseconds> workload_time;  // unprofiled, for the estimate
  // The ncu folder of an interrupted run: stages that it finished by the same command are taken
  // from there. It stays as it is.
  std::optional<std::filesystem::path> interrupted;
  // When to end, with what was measured until then.
  std::optional<std::chrono::steady_clock::time_point> until;
};

// What ncu is going to do, commands, files and minutes, without doing any of it.
CapturePlan plan_ncu(const InstalledTool& ncu, const NcuRequest& request);

// Leaves ncu/<stage>.ncu-rep, <stage>_raw.csv, raw.csv (their union) and sections.txt; until all
// stages are recorded also finished.txt, which lists those that are (finished_runs.h).
CaptureResult capture_with_ncu(const InstalledTool& ncu, const NcuRequest& request);

}  // namespace llmprof::capture
