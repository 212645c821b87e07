#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "capture/ncu/ncu_capture.h"

namespace llmprof::capture {

// One run of the workload under ncu: the kernels of one stage, and which of their launches.
struct NcuRun {
  std::string name;  // "decode", "decode_2"; "all" without stages: prefix of its files' names
  std::vector<ChosenKernel> kernels;      // empty: whatever runs
  std::vector<std::string> nvtx_include;  // empty: not gated
  bool count_per_shape = false;           // launch_skip and _count are per kernel and launch shape
  uint64_t launch_skip = 0;
  uint64_t launch_count = 0;  // 0: unlimited

  // How many launches will be measured; none: unknown in advance.
  [[nodiscard]] std::optional<uint64_t> expected_launches() const;
};

// One run per stage, or several if one command line cannot hold its kernels' names.
std::vector<NcuRun> plan_ncu_runs(const NcuOptions& options,
                                  const std::vector<ChosenKernel>& kernels,
                                  const NcuFeatures& features);

// The same launches by counting instead of by NVTX range, in case the range never opened.
NcuRun without_gate(NcuRun run, const NcuOptions& options, const NcuFeatures& features);

// Whether ncu may miss kernels of this run that it was asked to measure: seen with 2025.3.1 when it
// counts launches by shape.
bool loses_kernels(const NcuOptions& options, const NcuRun& run);

// One more run for lost kernels, <name>_lost: enough of the first matching launches to include
// each.
NcuRun run_of_lost_kernels(const NcuRun& run, std::vector<ChosenKernel> lost);

// finished.txt: which stages are recorded, and with which command, so that another run can continue
// an interrupted recording. Only a hash of the command is kept.
class FinishedRuns {
 public:
  explicit FinishedRuns(std::filesystem::path file);

  [[nodiscard]] bool has(const std::string& run, const std::vector<std::string>& command) const;
  Result<void> add(const std::string& run, const std::vector<std::string>& command);

 private:
  std::filesystem::path file_;
  std::map<std::string, std::string> hash_of_;
};

// Whether entire ranges are replayed as one: ncu then does not distinguish launches.
bool replays_ranges(const NcuOptions& options);

// Whether ncu should distinguish and name kernels by their symbols. These are exact; demangled
// names differ between tools ("[lambda(int) (instance 1)]", "{lambda(int)#1}").
bool names_symbols(const NcuRun& run);

// --kernel-name's argument: "regex:^(?:...|...)$"; empty: no filter.
std::string kernel_filter(const NcuRun& run);

// `ncu ... --export OUTPUT` before the workload's argv. ncu adds ".ncu-rep" to OUTPUT.
std::vector<std::string> build_ncu_cmd(const InstalledTool& ncu, const NcuFeatures& features,
                                       const NcuOptions& options, const NcuRun& run,
                                       const std::filesystem::path& output,
                                       const std::vector<std::string>& work_argv);

// The same, but prints its table to the file `output` instead of making a report.
std::vector<std::string> build_ncu_live_cmd(const InstalledTool& ncu, const NcuFeatures& features,
                                            const NcuOptions& options, const NcuRun& run,
                                            const std::filesystem::path& output,
                                            const std::vector<std::string>& work_argv);

// Prints the raw page of a run's report as CSV.
std::vector<std::string> build_ncu_import_cmd(const InstalledTool& ncu, const NcuFeatures& features,
                                              const NcuRun& run,
                                              const std::filesystem::path& report);

// How often each launch is replayed. Measured one by one on an H200 with ncu 2025.3.1; other GPUs
// and versions differ by some passes.
uint64_t predicted_passes(const NcuOptions& options);

// None if the launches or the workload's own time are unknown.
std::optional<std::chrono::seconds> predicted_time(
    const NcuOptions& options, const std::vector<NcuRun>& runs,
    std::optional<std::chrono::milliseconds> workload_time);

// Before a timeline has shown which launches there are: `kernels` will be measured in each stage;
// none if no timeline will choose any. `gated`: by the program's NVTX ranges.
std::chrono::milliseconds predicted_time_unseen(const NcuOptions& options,
                                                std::optional<uint64_t> kernels, bool gated,
                                                std::chrono::milliseconds workload_time);

}  // namespace llmprof::capture
