#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "base/machine.h"
#include "base/text.h"
#include "capture/nsys/nsys_capture.h"
#include "capture/shell.h"

namespace llmprof::capture {
namespace {

bool has(const std::vector<std::string>& words, std::string_view word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

// nsys replaces %h, %p and %q{NAME} in file names.
std::string escaped(const std::filesystem::path& output) {
  std::string name;
  for (const char c : output.string()) {
    if (c == '%') name += c;
    name += c;
  }
  return name;
}

void add_capture_range(const NsysOptions& options, std::vector<std::string>& argv) {
  const std::string range = options.gating_nvtx ? "nvtx" : options.capture_range;
  if (range.empty() || range == "none") return;
  argv.push_back("--capture-range=" + range);
  if (range == "nvtx") argv.push_back("--nvtx-capture=" + options.nvtx_capture);
  argv.push_back("--capture-range-end=" + options.capture_range_end);
}

// Where the workload would keep its temporary files.
std::string temporary_folder_of(const NsysRequest& request) {
  for (const auto* variables : {&request.environment, &request.workload.environment}) {
    for (const auto& [name, value] : *variables) {
      if (name == "TMPDIR") return value;
    }
  }
  const std::string ours = environment_variable("TMPDIR");
  return ours.empty() ? "/tmp" : ours;
}

// The names of each report; the first available one is used.
constexpr std::array<std::array<std::string_view, 2>, 8> kReports = {{
    {"cuda_gpu_kern_sum", "gpukernsum"},
    {"cuda_gpu_mem_time_sum", "gpumemtimesum"},
    {"cuda_gpu_mem_size_sum", "gpumemsizesum"},
    {"cuda_api_sum", "cudaapisum"},
    {"nvtx_sum", "nvtxsum"},
    {"nvtx_kern_sum", "nvtxkernsum"},
    {"nvtx_gpu_proj_sum", "nvtxgpuproj"},
    {"osrt_sum", "osrtsum"},
}};

// "  gpukernsum[:base|:mangled] -- CUDA GPU Kernel Summary"
std::string_view report_on(std::string_view line) {
  if (!contains(line, " -- ")) return {};
  line = trim(line);
  return line.substr(0, line.find_first_of("[ :"));
}

}  // namespace

bool is_gated_by_nvtx(const NsysOptions& options) {
  return options.gating_nvtx || options.capture_range == "nvtx";
}

std::vector<std::vector<std::string>> nsys_trace_ladder(const NsysOptions& options) {
  std::vector<std::string> trace = options.trace;
  if (is_gated_by_nvtx(options) && !has(trace, "nvtx")) trace.emplace_back("nvtx");
  std::vector<std::vector<std::string>> ladder = {trace};
  for (const auto& kept : {std::vector<std::string>{"cuda", "nvtx"}, {"cuda"}}) {
    std::vector<std::string> rung;
    std::copy_if(trace.begin(), trace.end(), std::back_inserter(rung),
                 [&](const std::string& kind) { return has(kept, kind); });
    const bool can_start = !is_gated_by_nvtx(options) || has(rung, "nvtx");
    if (!rung.empty() && can_start && rung != ladder.back()) ladder.push_back(std::move(rung));
  }
  return ladder;
}

std::vector<std::string> build_nsys_cmd(const InstalledTool& nsys, const NsysOptions& options,
                                        const std::vector<std::string>& trace,
                                        const std::filesystem::path& output,
                                        const std::vector<std::string>& work_argv) {
  std::vector<std::string> argv = {nsys.path.string(), "profile",
                                   fmt::format("--trace={}", fmt::join(trace, ","))};
  const std::string sample = options.sample == "cpu" ? "process-tree" : options.sample;
  argv.push_back("--sample=" + sample);
  // Otherwise nsys would follow every thread of the process, which needs a separate permission.
  if (sample == "none") argv.emplace_back("--cpuctxsw=none");
  if (has(trace, "cuda") && !options.cuda_graph_trace.empty() &&
      is_at_least(nsys.version, 2022, 2)) {
    argv.push_back("--cuda-graph-trace=" + options.cuda_graph_trace);
  }
  if (options.trace_fork_before_exec) argv.emplace_back("--trace-fork-before-exec=true");
  add_capture_range(options, argv);
  argv.emplace_back("--force-overwrite=true");
  argv.insert(argv.end(), options.extra_arguments.begin(), options.extra_arguments.end());
  argv.insert(argv.end(), {"-o", escaped(output)});
  argv.insert(argv.end(), work_argv.begin(), work_argv.end());
  return argv;
}

WorkloadRecording nsys_recording(const InstalledTool& nsys, const NsysRequest& request,
                                 const std::vector<std::string>& trace,
                                 const std::filesystem::path& work) {
  WorkloadRecording recording;
  recording.name = "profile";
  recording.folder = request.bundle / "nsys";
  recording.environment = request.environment;
  NsysOptions options = request.options;
  const std::string workloads_own = temporary_folder_of(request);
  // A comma would start another variable.
  if (workloads_own.find(',') == std::string::npos) {
    std::erase_if(recording.environment, [](const auto& given) { return given.first == "TMPDIR"; });
    recording.environment.emplace_back("TMPDIR", work.string());
    options.extra_arguments.push_back("--env-var=TMPDIR=" + workloads_own);
  }
  // Otherwise only ranges whose names are registered strings start a capture.
  if (is_gated_by_nvtx(options)) {
    recording.environment.emplace_back("NSYS_NVTX_PROFILER_REGISTER_ONLY", "0");
  }
  recording.wrapper = build_nsys_cmd(nsys, options, trace, work / "run", {});
  return recording;
}

std::vector<std::string> choose_nsys_reports(std::string_view help_reports) {
  std::vector<std::string_view> known;
  for (const std::string_view line : split_at(help_reports, '\n')) {
    known.push_back(report_on(line));
  }
  std::vector<std::string> chosen;
  for (const auto& names : kReports) {
    const auto name = std::find_if(names.begin(), names.end(), [&](std::string_view candidate) {
      return std::find(known.begin(), known.end(), candidate) != known.end();
    });
    if (name != names.end()) chosen.emplace_back(*name);
  }
  return chosen;
}

}  // namespace llmprof::capture
