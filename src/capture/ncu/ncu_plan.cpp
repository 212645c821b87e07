#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <string_view>

#include "base/files.h"
#include "base/text.h"
#include "capture/ncu/ncu_capture.h"
#include "capture/ncu/ncu_runs.h"
#include "capture/process.h"
#include "capture/shell.h"

namespace llmprof::capture {
namespace {

constexpr std::chrono::seconds kNcuAnswerTime(60);
constexpr size_t kLongestHelp = 256UL << 10U;

using Argv = std::vector<std::string>;

constexpr const char* kSymbols = "mangled";
constexpr const char* kDuration = "gpu__time_duration.sum";

void append(Argv& argv, std::initializer_list<std::string> more) {
  argv.insert(argv.end(), more.begin(), more.end());
}

// ncu replaces %p, %i and the like in file names.
std::string literal_name(const std::filesystem::path& file) {
  return escaped(file.string(), "%", '%');
}

// The sections and metrics, always including durations.
void append_measurements(Argv& argv, const NcuOptions& options) {
  if (!options.set.empty()) append(argv, {"--set", options.set});
  for (const std::string& section : options.sections) append(argv, {"--section", section});
  std::vector<std::string> metrics = options.metrics;
  if (std::find(metrics.begin(), metrics.end(), kDuration) == metrics.end()) {
    metrics.insert(metrics.begin(), kDuration);
  }
  append(argv, {"--metrics", fmt::format("{}", fmt::join(metrics, ","))});
}

void append_launch_filter(Argv& argv, const NcuOptions& options, const NcuRun& run) {
  const std::string filter = kernel_filter(run);
  const char* base = names_symbols(run) ? kSymbols : "demangled";
  append(argv, {"--kernel-name-base", filter.empty() ? options.kernel_name_base : base});
  if (!filter.empty()) append(argv, {"--kernel-name", filter});
  if (run.count_per_shape) append(argv, {"--filter-mode", "per-launch-config"});
  if (run.launch_skip > 0) append(argv, {"--launch-skip", fmt::format("{}", run.launch_skip)});
  if (run.launch_count > 0) append(argv, {"--launch-count", fmt::format("{}", run.launch_count)});
}

void append_printed_names(Argv& argv, const NcuRun& run) {
  if (names_symbols(run)) append(argv, {"--print-kernel-base", kSymbols});
}

Argv profile_cmd(const InstalledTool& ncu, const NcuFeatures& features, const NcuOptions& options,
                 const NcuRun& run) {
  Argv argv = {ncu.path.string()};
  if (features.has_config_file) append(argv, {"--config-file", "off"});
  append(argv, {"--target-processes", options.target_processes});
  // Even if nothing is gated: the table then names each launch's ranges.
  append(argv, {"--nvtx"});
  for (const std::string& range : run.nvtx_include) append(argv, {"--nvtx-include", range});
  append_measurements(argv, options);
  append(argv, {"--replay-mode", options.replay_mode});
  if (!replays_ranges(options)) append_launch_filter(argv, options, run);
  if (features.renames_kernels) append(argv, {"--rename-kernels", "off"});
  append(argv, {"--clock-control", options.clock_control});
  argv.insert(argv.end(), options.extra_arguments.begin(), options.extra_arguments.end());
  return argv;
}

struct Passes {
  WordList names;
  uint64_t passes;
};

constexpr std::array kSetPasses = {
    Passes{{"basic|default"}, 10}, Passes{{"detailed"}, 20}, Passes{{"full"}, 38},
    Passes{{"roofline"}, 17},      Passes{{"nvlink"}, 1},    Passes{{"pmsampling"}, 9},
    Passes{{"source"}, 5},
};

constexpr std::array kSectionPasses = {
    Passes{
        {"LaunchStats|NumaAffinity|Nvlink|Nvlink_Tables|Nvlink_Topology|Occupancy|SchedulerStats|"
         "WorkloadDistribution"},
        1},
    Passes{{"InstructionStats|SpeedOfLight_HierarchicalDoubleRooflineChart|"
            "SpeedOfLight_HierarchicalHalfRooflineChart|"
            "SpeedOfLight_HierarchicalSingleRooflineChart|SpeedOfLight_RooflineChart"},
           3},
    Passes{{"PmSampling"}, 4},
    Passes{{"SourceCounters"}, 5},
    Passes{{"SpeedOfLight_HierarchicalTensorRooflineChart"}, 8},
    Passes{{"MemoryWorkloadAnalysis|PmSampling_WarpStates|WarpStateStats"}, 9},
    Passes{{"SpeedOfLight"}, 10},
    Passes{{"ComputeWorkloadAnalysis"}, 11},
    Passes{{"MemoryWorkloadAnalysis_Chart"}, 14},
    Passes{{"MemoryWorkloadAnalysis_Tables"}, 30},
};

// For a set or section that is not in the tables.
constexpr uint64_t kUnknownPasses = 10;
// Beyond the program's own time, 120 launches took 72 s and 60 took 42 s, 18 passes each; most of
// it is saving and restoring memory. If launches are counted by shape and no NVTX range gates them,
// 44 took 64 s and 66 took 97 s.
constexpr std::chrono::milliseconds kTimePerPass(37);
constexpr std::chrono::milliseconds kTimePerPassUngated(80);

// Share of the workload's own time that a run under ncu takes in addition to the measured launches:
// one that ends early spends most of it starting. Measured on an H200: 20.1 and 17.2 s of 25.0 s.
constexpr double kShareUntilMeasured = 0.8;
// A prefill and a decode. With 10 kernels chosen in each, and three launches of each shape, they
// had 56 launches together; 110 if kernels of all requests matched.
constexpr int64_t kStages = 2;
constexpr double kLaunchesOfAKernel = 1.9;
constexpr double kLaunchesOfAKernelUngated = 3.7;
constexpr uint64_t kLaunchesUnchosen = 100;

std::chrono::milliseconds time_per_pass(bool gated) {
  return gated ? kTimePerPass : kTimePerPassUngated;
}

bool replays_program(const NcuOptions& options) {
  return options.replay_mode == "application" || options.replay_mode == "app-range";
}

std::chrono::milliseconds unmeasured_time(const NcuOptions& options,
                                          std::chrono::milliseconds workload_time) {
  const bool ends_early = options.short_run || options.stop_when_measured;
  const double share = ends_early ? kShareUntilMeasured : 1.0;
  return std::chrono::milliseconds(
      static_cast<int64_t>(static_cast<double>(workload_time.count()) * share));
}

template <size_t N>
uint64_t passes_of(const std::array<Passes, N>& table, std::string_view name) {
  const auto found = std::find_if(table.begin(), table.end(),
                                  [&](const Passes& entry) { return entry.names.contains(name); });
  return found == table.end() ? kUnknownPasses : found->passes;
}

using std::filesystem::path;

std::string run_note(const NcuRun& run, uint64_t passes) {
  const auto launches = run.expected_launches();
  const std::string how_many = launches ? fmt::format("about {} launches", *launches)
                                        : "a number of launches that is known only then";
  return fmt::format("{}: {}, each replayed in about {} passes ({})", run.name, how_many, passes,
                     describe_filter(run));
}

}  // namespace

NcuFeatures features_in_help(std::string_view help) {
  return {.renames_kernels = contains(help, "--rename-kernels "),
          .counts_per_shape = contains(help, "per-launch-config"),
          .has_config_file = contains(help, "--config-file ")};
}

NcuFeatures ncu_features(const InstalledTool& ncu) {
  const auto answered = ask_program({ncu.path.string(), "--help"}, kNcuAnswerTime, kLongestHelp);
  return answered ? features_in_help(answered->output_tail) : NcuFeatures{};
}

Argv build_ncu_cmd(const InstalledTool& ncu, const NcuFeatures& features, const NcuOptions& options,
                   const NcuRun& run, const std::filesystem::path& output, const Argv& work_argv) {
  Argv argv = profile_cmd(ncu, features, options, run);
  append(argv, {"--force-overwrite", "--export", literal_name(output)});
  argv.insert(argv.end(), work_argv.begin(), work_argv.end());
  return argv;
}

Argv build_ncu_live_cmd(const InstalledTool& ncu, const NcuFeatures& features,
                        const NcuOptions& options, const NcuRun& run,
                        const std::filesystem::path& output, const Argv& work_argv) {
  Argv argv = profile_cmd(ncu, features, options, run);
  append(argv, {"--csv", "--page", "raw", "--print-units", "base", "--force-overwrite",
                "--log-file", literal_name(output)});
  append_printed_names(argv, run);
  argv.insert(argv.end(), work_argv.begin(), work_argv.end());
  return argv;
}

Argv build_ncu_import_cmd(const InstalledTool& ncu, const NcuFeatures& features, const NcuRun& run,
                          const std::filesystem::path& report) {
  Argv argv = {ncu.path.string(), "--import",      report.string(), "--page", "raw",
               "--csv",           "--print-units", "base"};
  append_printed_names(argv, run);
  if (features.renames_kernels) append(argv, {"--rename-kernels", "off"});
  return argv;
}

uint64_t predicted_passes(const NcuOptions& options) {
  // ncu packs everything requested into shared passes: roofline's 17 with MemoryWorkloadAnalysis
  // (9), Occupancy and SchedulerStats became 18. So the most demanding part counts, plus a little.
  uint64_t most = options.set.empty() ? 1 : passes_of(kSetPasses, options.set);
  bool several = false;
  for (const std::string& section : options.sections) {
    most = std::max(most, passes_of(kSectionPasses, section));
    several = several || !options.set.empty() || options.sections.size() > 1;
  }
  return most + (several ? 1 : 0);
}

std::optional<std::chrono::seconds> predicted_time(
    const NcuOptions& options, const std::vector<NcuRun>& runs,
    std::optional<std::chrono::milliseconds> workload_time) {
  if (!workload_time) return std::nullopt;
  const uint64_t passes = predicted_passes(options);
  std::chrono::milliseconds total(0);
  for (const NcuRun& run : runs) {
    // The whole program runs once per pass.
    if (replays_program(options)) {
      total += *workload_time * static_cast<int64_t>(passes);
      continue;
    }
    const auto launches = run.expected_launches();
    if (!launches) return std::nullopt;
    total += unmeasured_time(options, *workload_time) +
             time_per_pass(!run.count_per_shape || !run.nvtx_include.empty()) *
                 static_cast<int64_t>(*launches * passes);
  }
  return std::chrono::ceil<std::chrono::seconds>(total);
}

std::chrono::milliseconds predicted_time_unseen(const NcuOptions& options,
                                                std::optional<uint64_t> kernels, bool gated,
                                                std::chrono::milliseconds workload_time) {
  const auto passes = static_cast<int64_t>(predicted_passes(options));
  const int64_t runs = kernels ? kStages : 1;
  if (replays_program(options)) return runs * passes * workload_time;
  uint64_t launches = options.launch_count.value_or(kLaunchesUnchosen);
  if (kernels && !options.launch_count) {
    launches = static_cast<uint64_t>(static_cast<double>(*kernels * options.launches_per_shape) *
                                     (gated ? kLaunchesOfAKernel : kLaunchesOfAKernelUngated));
  }
  return runs * unmeasured_time(options, workload_time) +
         static_cast<int64_t>(launches) * passes * time_per_pass(gated);
}

CapturePlan plan_ncu(const InstalledTool& ncu, const NcuRequest& request) {
  const NcuFeatures features = ncu_features(ncu);
  const std::vector<NcuRun> runs = plan_ncu_runs(request.options, request.kernels, features);
  const uint64_t passes = predicted_passes(request.options);
  const path folder = absolute_path(request.bundle / "ncu");
  CapturePlan plan;
  plan.backend = "ncu";
  for (const NcuRun& run : runs) {
    const path report = folder / (run.name + ".ncu-rep");
    plan.commands.push_back({run.name,
                             build_ncu_cmd(ncu, features, request.options, run, folder / run.name,
                                           request.workload.argv),
                             request.environment});
    plan.commands.push_back(
        {run.name + "-export", build_ncu_import_cmd(ncu, features, run, report), {}});
    plan.files.push_back(path("ncu") / (run.name + ".ncu-rep"));
    plan.files.push_back(path("ncu") / (run.name + "_raw.csv"));
    plan.notes.push_back(run_note(run, passes));
  }
  if (std::any_of(runs.begin(), runs.end(), [&](const NcuRun& run) {
        return !run.kernels.empty() && loses_kernels(request.options, run);
      })) {
    plan.notes.emplace_back(
        "if ncu loses kernels of a stage, the stage is run once more for these kernels only");
  }
  plan.commands.push_back({"list-sections", {ncu.path.string(), "--list-sections"}, {}});
  plan.files.emplace_back("ncu/raw.csv");
  plan.files.emplace_back("ncu/sections.txt");
  plan.estimate = predicted_time(request.options, runs, request.workload_time);
  if (request.kernels.empty()) {
    plan.notes.emplace_back("without a timeline the kernels are not chosen by their time");
  }
  if (plan.estimate) {
    plan.notes.emplace_back(
        "time: that of the workload for each run, plus 37 ms per pass and launch in an NVTX range, "
        "80 ms elsewhere (measured on an H200); reports take about 1 to 3 MB per launch");
  }
  return plan;
}

}  // namespace llmprof::capture
