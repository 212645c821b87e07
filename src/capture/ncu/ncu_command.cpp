#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>

#include "base/text.h"
#include "capture/ncu/ncu_capture.h"
#include "capture/ncu/ncu_runs.h"
#include "capture/process.h"

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

// ncu replaces %p, %i and the like in names of files.
std::string literal_name(const std::filesystem::path& file) {
  std::string name;
  for (const char c : file.string()) name += c == '%' ? "%%" : std::string(1, c);
  return name;
}

// The sections and metrics. Durations are always among them.
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
  // Also where nothing is gated: the table then names each launch's ranges.
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

}  // namespace

NcuFeatures features_in_help(std::string_view help) {
  return {.renames_kernels = contains(help, "--rename-kernels "),
          .counts_per_shape = contains(help, "per-launch-config"),
          .has_config_file = contains(help, "--config-file ")};
}

NcuFeatures ncu_features(const InstalledTool& ncu) {
  Command command;
  command.argv = {ncu.path.string(), "--help"};
  command.environment = {{"LC_ALL", "C"}};
  command.timeout = kNcuAnswerTime;
  command.output_tail_bytes = kLongestHelp;
  const auto answered = run_process(command);
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

}  // namespace llmprof::capture
