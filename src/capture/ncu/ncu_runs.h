#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "capture/ncu/ncu_capture.h"
#include "capture/recording.h"

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

// For --kernel-name regex:..., which is Boost.Regex in Perl syntax and finds a match anywhere (seen
// with ncu 2022.3 and 2025.3). Tools print the same name with different blanks ("> >") and with or
// without casts ("(int)4"): the expressions match all variants, and no other name.

// Matches this demangled name, in an alternation.
std::string kernel_name_pattern(std::string_view name);

// Whether two tools' demangled names denote the same kernel.
bool same_kernel_name(std::string_view a, std::string_view b);

enum class NvtxRangeStyle : unsigned char { push_pop, start_end };

// For --nvtx-include: "LLM@decode_all/". An empty domain is the default one. Characters with a
// meaning in ncu's syntax are escaped.
std::string nvtx_include_expression(std::string_view domain, std::string_view range,
                                    NvtxRangeStyle style = NvtxRangeStyle::push_pop);

// ncu's messages in the output of the program it ran.
struct NcuRunMessages {
  bool no_permission = false;     // ERR_NVGPUCTRPERM
  bool driver_in_use = false;     // another tool holds the counters
  bool no_driver = false;         // there is no CUDA driver to connect to
  bool nothing_profiled = false;  // "No kernels were profiled"
  uint64_t launches = 0;          // profiled, according to its log
  std::vector<std::string> unknown_sections;
  std::optional<int64_t> program_exit_code;  // of the program, if not 0
  std::string first_error;                   // any other; short and printable

  void note_line(std::string_view line);
};

// Reads logs of any size, line by line; a missing file yields no messages.
NcuRunMessages read_ncu_messages(const std::filesystem::path& log);

// Why a run under ncu left nothing to read, and what to do about it.
Error failed_ncu_run(const CommandRecord& record, const NcuRunMessages& messages,
                     const NcuRun& run);

// Whether another stage would fail in the same way.
bool concerns_all_stages(const CommandRecord& record, const NcuRunMessages& messages);

// "--nvtx-include LLM@decode_all/, 8 kernels by name, --launch-count 3": for messages.
std::string describe_filter(const NcuRun& run);

// How to get permission to read the GPU's performance counters.
std::string counter_permission_remedy();
// How to free the counters that DCGM holds.
std::string counters_in_use_remedy();

// How many launches ncu has measured, from the log that it is writing.
class MeasuredLaunches {
 public:
  // Reads what was added to the log since the last call.
  uint64_t count(const std::filesystem::path& log);

 private:
  uint64_t read_ = 0;  // bytes
  uint64_t measured_ = 0;
  std::string line_;  // the last one, which may continue
};

// A raw page: a header, a row of units, one row per launch.
struct RawTable {
  std::vector<std::string> columns;
  std::vector<std::string> units;  // as many as columns; empty if a column has none
  std::vector<std::vector<std::string>> launches;

  [[nodiscard]] std::vector<std::string> kernel_names() const;  // each once, in order
  // Removes the launches of these kernels.
  void leave_out(const std::vector<std::string>& names);
};

// Finds the tables among ncu's other output; an error if none has a complete row.
Result<RawTable> parse_raw_table(std::string_view output);
Result<RawTable> read_raw_table(const std::filesystem::path& file);

// Several raw pages as one: all columns of all pages, cells empty if a launch's page lacks the
// column, launches renumbered. If pages give a column in different units, a second table with its
// own header follows, as ncu's own output may have several.
class RawUnion {
 public:
  void add(const RawTable& table);
  [[nodiscard]] bool empty() const { return tables_.empty(); }
  [[nodiscard]] std::string to_csv() const;

 private:
  std::vector<RawTable> tables_;
  size_t launches_ = 0;
};

std::string to_csv(const RawTable& table);

}  // namespace llmprof::capture
