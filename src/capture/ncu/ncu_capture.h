#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "capture/capture_result.h"
#include "capture/probes/ensure.h"
#include "capture/workload_command.h"

namespace llmprof {

// conf/profiling/ncu/*.yaml
struct NcuOptions {
  std::string target_processes = "all";
  bool gating_nvtx = true;
  std::vector<std::string> nvtx_include;  // Domain@Range/; empty: the stages' own
  std::string set = "roofline";           // empty: none
  std::vector<std::string> sections;
  std::vector<std::string> metrics;
  std::string replay_mode = "kernel";  // kernel, application, range, app-range
  // Of launches that no timeline chose; chosen kernels are always told apart by demangled name.
  std::string kernel_name_base = "demangled";
  uint64_t launches_per_shape = 3;  // of each chosen kernel in each of its launch shapes
  // ncu's own --launch-skip and --launch-count, over all matching launches, instead of the above.
  std::optional<uint64_t> launch_skip;
  std::optional<uint64_t> launch_count;
  std::string clock_control = "base";
  std::vector<std::string> extra_arguments;
};

// One of the timeline's top kernels in one stage.
struct ChosenKernel {
  std::string name;       // demangled, in full, as the timeline has it
  std::string stage;      // "prefill", "decode"; empty: no stages are known
  std::string range;      // "LLM@decode_all": where the timeline saw it; empty: not in a range
  uint64_t launches = 0;  // the timeline's, in that stage
  uint64_t launches_before = 0;  // of the same name, before the stage began
  uint64_t distinct_shapes = 1;
};

struct NcuRequest {
  NcuOptions options;
  WorkloadCommand workload;
  std::filesystem::path bundle;  // files go to bundle/ncu
  CaptureLimits limits;
  std::vector<std::pair<std::string, std::string>> environment;  // for the workload alone
  std::vector<ChosenKernel> kernels;                       // empty: no timeline, captured unseeded
  std::optional<std::chrono::milliseconds> workload_time;  // unprofiled, for the estimate
};

// A regular expression that matches exactly this demangled name, for --kernel-name regex:...
std::string kernel_name_regex(std::string_view name);

// One ncu run per stage ("decode"): its --kernel-name, --nvtx-include or --launch-skip and -count.
struct NcuRun {
  std::string stage;  // "decode"; "all" without stages
  std::vector<ChosenKernel> kernels;
  uint64_t launch_skip = 0;
  uint64_t launch_count = 0;  // 0: unlimited
  std::string nvtx_include;   // empty: not gated
};
std::vector<NcuRun> plan_ncu_runs(const NcuOptions& options,
                                  const std::vector<ChosenKernel>& kernels);

std::vector<std::string> build_ncu_cmd(const InstalledTool& ncu, const NcuOptions& options,
                                       const NcuRun& run, const std::filesystem::path& output,
                                       const std::vector<std::string>& work_argv);

CapturePlan plan_ncu(const InstalledTool& ncu, const NcuRequest& request);

// Leaves ncu/<stage>.ncu-rep, <stage>_raw.csv, raw.csv (their union) and sections.txt. A stage
// whose raw CSV is already there is not captured again: an interrupted capture resumes.
CaptureResult capture_with_ncu(const InstalledTool& ncu, const NcuRequest& request);

}  // namespace llmprof
