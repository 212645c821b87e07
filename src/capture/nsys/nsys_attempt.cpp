#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <initializer_list>

#include "base/machine.h"
#include "base/text.h"
#include "base/units.h"
#include "capture/nsys/nsys_capture.h"
#include "capture/shell.h"

namespace llmprof::capture {
namespace {

bool has(const std::vector<std::string>& words, std::string_view word) {
  return std::find(words.begin(), words.end(), word) != words.end();
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

bool says_any(std::string_view output, std::initializer_list<std::string_view> words) {
  std::string lower(output);
  std::ranges::transform(lower, lower.begin(), to_lower);
  return std::ranges::any_of(words, [&](std::string_view word) { return contains(lower, word); });
}

std::string said(const CommandRecord& record) {
  return fmt::format("{}; see {}", printed_words(record.result.output_tail), record.log.string());
}

NsysFailure nsys_failed(std::string message) {
  return {{ErrorKind::tool, std::move(message)}, true};
}
NsysFailure final_failure(std::string message) {
  return {{ErrorKind::tool, std::move(message)}, false};
}

double seconds(std::chrono::nanoseconds duration) {
  return std::chrono::duration<double>(duration).count();
}

std::string_view kept(NsysOutput output) {
  return output == NsysOutput::report ? "What was recorded until then is kept"
                                      : "nsys left no report of what it had recorded";
}

NsysFailure hit_limit(const NsysRequest& request, const CommandRecord& record, NsysOutput output) {
  switch (record.result.end) {
    case ProcessEnd::timed_out:
      return final_failure(
          fmt::format("the workload under nsys was not finished after {:.0f} s and was ended; {}. "
                      "{}. If it hangs only under nsys, trace less (nsys.trace=[cuda,nvtx], "
                      "nsys.sample=none); else raise run.timeout_s",
                      seconds(request.limits.timeout.value_or(std::chrono::milliseconds(0))),
                      said(record), kept(output)));
    case ProcessEnd::over_limit:
      return final_failure(
          fmt::format("nsys wrote more than {:.0f} MB, so the recording was ended; see {}. {}. "
                      "Trace less (nsys.trace=[cuda,nvtx], nsys.sample=none), run a shorter "
                      "workload, or raise run.max_trace_mb",
                      static_cast<double>(request.limits.max_bytes.value_or(0)) / kMega,
                      record.log.string(), kept(output)));
    default:
      return final_failure(fmt::format("the nsys recording was interrupted. {}; see {}",
                                       kept(output), record.log.string()));
  }
}

NsysFailure never_started(const NsysRequest& request, const CommandRecord& record) {
  const std::string_view range = request.options.nvtx_capture;
  const size_t at = range.find('@');
  const std::string_view name = range.substr(0, at);
  const std::string where = at == std::string_view::npos
                                ? std::string("the default NVTX domain")
                                : fmt::format("the NVTX domain '{}'", range.substr(at + 1));
  const std::string end = record.ended_well() ? std::string()
                                              : fmt::format(" before the workload ended ({})",
                                                            describe_end(record.result));
  return final_failure(fmt::format(
      "the gated recording never started: no range '{}' of {} began{}, so nsys wrote no report; "
      "{}. Record everything and select afterwards (nsys.gating_nvtx=false), or name a range that "
      "the workload has (nsys.nvtx_capture=RANGE@DOMAIN; a range whose name is written "
      "'DOMAIN@RANGE' is in no domain)",
      name, where, end, said(record)));
}

NsysFailure without_report(const NsysRequest& request, const CommandRecord& record) {
  const ProcessResult& result = record.result;
  if (result.end == ProcessEnd::not_started) {
    return final_failure(fmt::format("nsys could not be started: {}: {}", record.argv.front(),
                                     describe_end(result)));
  }
  if (result.end == ProcessEnd::signalled) {
    return nsys_failed(
        fmt::format("nsys crashed and left no report: {}; {}. Install another version of Nsight "
                    "Systems, or set LLMPROF_NSYS to one",
                    describe_end(result), said(record)));
  }
  const std::string words = last_words(result.output_tail);
  // Checks the program's name, because nsys may also miss its own files.
  if (!result.succeeded() && says_any(words, {"program not found", "no such file"}) &&
      contains(words, request.workload.argv.front())) {
    return final_failure(
        fmt::format("nsys could not start the workload '{}': {}. Correct the workload's command",
                    request.workload.argv.front(), said(record)));
  }
  if (says_any(result.output_tail, {"permission denied", "not permitted", "requires root",
                                    "insufficient privilege", "perf_event_paranoid"})) {
    return nsys_failed(
        fmt::format("nsys is not permitted to profile here: {}. Run as root or, in a container, "
                    "with --cap-add=SYS_ADMIN (or SYS_PTRACE); for CPU sampling: sysctl -w "
                    "kernel.perf_event_paranoid=2, or nsys.sample=none",
                    said(record)));
  }
  if (is_gated_by_nvtx(request.options)) return never_started(request, record);
  if (record.ended_well()) {
    return nsys_failed(
        fmt::format("nsys reported success but left no report; {}. Check the free disk space of {}",
                    said(record), record.log.parent_path().string()));
  }
  return nsys_failed(
      fmt::format("nsys failed and left no report: {}; {}", describe_end(result), said(record)));
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
  // nsys replaces %h, %p and %q{NAME} in file names.
  argv.insert(argv.end(), {"-o", escaped(output.string(), "%", '%')});
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

std::optional<NsysFailure> judge_nsys_attempt(const NsysRequest& request,
                                              const CommandRecord& record, NsysOutput output) {
  if (record.result.hit_limit()) return hit_limit(request, record, output);
  switch (output) {
    case NsysOutput::none:
      return without_report(request, record);
    case NsysOutput::empty:
      return nsys_failed(fmt::format(
          "nsys left an empty report ({}); {}. The disk may be full: check the free disk space of "
          "{}",
          describe_end(record.result), said(record), record.log.parent_path().string()));
    case NsysOutput::garbage:
      return nsys_failed(
          fmt::format("nsys left a file that is not an Nsight Systems report ({}); {}. It is kept, "
                      "its name ending in .unusable; set LLMPROF_NSYS to another installation",
                      describe_end(record.result), said(record)));
    case NsysOutput::report:
      break;
  }
  if (record.trouble) return NsysFailure{*record.trouble, false};
  if (record.ended_well()) return std::nullopt;
  return final_failure(fmt::format(
      "the workload itself failed under nsys: {}; {}. What was recorded until then is kept",
      describe_end(record.result), said(record)));
}

}  // namespace llmprof::capture
