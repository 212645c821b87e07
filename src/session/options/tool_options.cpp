#include "session/options/tool_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/text.h"

namespace llmprof::session {
namespace {

using Words = std::string_view;
constexpr std::array<Words, 26> kTraces = {"cuda",
                                           "nvtx",
                                           "osrt",
                                           "cublas",
                                           "cudnn",
                                           "cuda-hw",
                                           "cublas-verbose",
                                           "cusparse",
                                           "cusparse-verbose",
                                           "cusolver",
                                           "cusolver-verbose",
                                           "mpi",
                                           "oshmem",
                                           "ucx",
                                           "openacc",
                                           "openmp",
                                           "opengl",
                                           "opengl-annotations",
                                           "vulkan",
                                           "vulkan-annotations",
                                           "nvvideo",
                                           "nvmedia",
                                           "python-gil",
                                           "syscall",
                                           "gds",
                                           "tegra-accelerators"};
constexpr std::array<Words, 4> kSamples = {"none", "cpu", "process-tree", "system-wide"};
constexpr std::array<Words, 3> kCaptureRanges = {"none", "nvtx", "cudaProfilerApi"};
constexpr std::array<Words, 5> kRangeEnds = {"none", "stop", "stop-shutdown", "repeat",
                                             "repeat-shutdown"};
constexpr std::array<Words, 2> kGraphTraces = {"node", "graph"};
constexpr std::array<Words, 2> kTargets = {"all", "application-only"};
constexpr std::array<Words, 8> kSets = {"basic",  "default",    "detailed", "full",
                                        "nvlink", "pmsampling", "roofline", "source"};
constexpr std::array<Words, 25> kSections = {
    "SpeedOfLight",
    "SpeedOfLight_RooflineChart",
    "SpeedOfLight_HierarchicalDoubleRooflineChart",
    "SpeedOfLight_HierarchicalHalfRooflineChart",
    "SpeedOfLight_HierarchicalSingleRooflineChart",
    "SpeedOfLight_HierarchicalTensorRooflineChart",
    "ComputeWorkloadAnalysis",
    "MemoryWorkloadAnalysis",
    "MemoryWorkloadAnalysis_Chart",
    "MemoryWorkloadAnalysis_Deprecated",
    "MemoryWorkloadAnalysis_Tables",
    "LaunchStats",
    "Occupancy",
    "SchedulerStats",
    "WarpStateStats",
    "InstructionStats",
    "SourceCounters",
    "NumaAffinity",
    "Nvlink",
    "Nvlink_Tables",
    "Nvlink_Topology",
    "PmSampling",
    "PmSampling_WarpStates",
    "WorkloadDistribution",
    "C2CLink",
};
constexpr std::array<Words, 4> kReplays = {"kernel", "application", "range", "app-range"};
constexpr std::array<Words, 3> kNameBases = {"demangled", "function", "mangled"};
constexpr std::array<Words, 4> kClocks = {"base", "none", "boost", "reset"};
constexpr std::string_view kRegex = "regex:";

// "repeat:3" is "repeat" with a count.
std::string read_range_end(config::Settings& settings) {
  constexpr std::string_view kKey = "capture_range_end";
  std::string written = settings.text(kKey, "stop");
  const size_t colon = written.find(':');
  const std::string_view word = std::string_view(written).substr(0, colon);
  const bool repeats = word == "repeat" || word == "repeat-shutdown";
  const auto count =
      colon == std::string::npos ? std::nullopt : parse_int(written.substr(colon + 1));
  if (colon != std::string::npos && repeats && count && *count > 0) return written;
  if (written == "repeat-shutdown" || colon != std::string::npos) {
    settings.wrong(kKey, fmt::format("must be none, stop, stop-shutdown, repeat, repeat:N or "
                                     "repeat-shutdown:N, but is '{}'",
                                     to_printable(written)));
    return "stop";
  }
  return settings.one_of(kKey, kRangeEnds, "stop");
}

// nsys names the range first, ncu the domain: a value in the other's order never matches.
std::string read_nvtx_capture(config::Settings& settings) {
  constexpr std::string_view kKey = "nvtx_capture";
  constexpr std::string_view kOurDomain = "LLM@";
  std::string written = settings.text(kKey, "decode_all@LLM");
  std::string_view range = written;
  if (range.ends_with('/')) range.remove_suffix(1);
  if (range.empty() || range.size() != written.size() || range.starts_with(kOurDomain)) {
    std::string hint;
    if (range.starts_with(kOurDomain) && range.size() > kOurDomain.size()) {
      hint = fmt::format("; did you mean '{}@LLM'?", range.substr(kOurDomain.size()));
    }
    settings.wrong(kKey, fmt::format("must be Range@Domain, as nsys takes it, but is '{}'{}",
                                     to_printable(written), hint));
  }
  return written;
}

std::vector<std::string> read_nvtx_include(config::Settings settings) {
  std::vector<std::string> ranges = settings.texts("include");
  for (const std::string& range : ranges) {
    if (!range.ends_with("@LLM") && !range.ends_with("@LLM/") && !range.empty()) continue;
    settings.wrong("include",
                   fmt::format("must be Domain@Range/, as ncu takes it (LLM@decode_all/), "
                               "but is '{}'",
                               to_printable(range)));
  }
  settings.refuse_unknown_keys();
  return ranges;
}

std::vector<std::string> read_sections(config::Settings& settings) {
  std::vector<std::string> sections = settings.texts("sections");
  const bool patterns = std::any_of(sections.begin(), sections.end(), [](const std::string& name) {
    return name.starts_with(kRegex);
  });
  if (!patterns) settings.each_one_of("sections", kSections);
  return sections;
}

std::vector<std::string> read_metrics(config::Settings& settings) {
  std::vector<std::string> metrics = settings.texts("metrics");
  for (const std::string& metric : metrics) {
    const bool pattern = metric.starts_with(kRegex);
    const bool one_word =
        !metric.empty() && metric.find_first_of(" \t\n,;=\"'") == std::string::npos;
    if (pattern || one_word) continue;
    settings.wrong("metrics", fmt::format("must be a list of metric names, but has '{}'",
                                          to_printable(metric)));
  }
  return metrics;
}

}  // namespace

capture::NsysOptions read_nsys_options(config::Settings settings) {
  capture::NsysOptions options;
  if (settings.node("trace") != nullptr) options.trace = settings.each_one_of("trace", kTraces);
  if (options.trace.empty()) settings.wrong("trace", "must name at least one kind, such as cuda");
  options.sample = settings.one_of("sample", kSamples, options.sample);
  options.gating_nvtx = settings.boolean("gating_nvtx", options.gating_nvtx);
  options.capture_range = settings.one_of("capture_range", kCaptureRanges, options.capture_range);
  if (options.gating_nvtx && options.capture_range == "cudaProfilerApi") {
    settings.wrong("capture_range",
                   "is cudaProfilerApi while gating_nvtx asks for nvtx; choose one");
  }
  if (options.gating_nvtx) options.capture_range = "nvtx";
  options.capture_range_end = read_range_end(settings);
  options.nvtx_capture = read_nvtx_capture(settings);
  options.cuda_graph_trace =
      settings.one_of("cuda_graph_trace", kGraphTraces, options.cuda_graph_trace);
  options.trace_fork_before_exec =
      settings.boolean("trace_fork_before_exec", options.trace_fork_before_exec);
  options.extra_arguments = settings.texts("extra_arguments");
  settings.refuse_unknown_keys();
  return options;
}

capture::NcuOptions read_ncu_options(config::Settings settings) {
  capture::NcuOptions options;
  options.target_processes =
      settings.one_of("target_processes", kTargets, options.target_processes);
  options.gating_nvtx = settings.boolean("gating_nvtx", options.gating_nvtx);
  options.nvtx_include = read_nvtx_include(settings.within("nvtx"));
  options.set = settings.one_of("set", kSets, "");
  options.sections = read_sections(settings);
  options.metrics = read_metrics(settings);
  if (options.set.empty() && options.sections.empty() && options.metrics.empty()) {
    settings.wrong("metrics", "and set and sections are empty: ncu would measure nothing");
  }
  options.replay_mode = settings.one_of("replay_mode", kReplays, options.replay_mode);
  options.kernel_name_base =
      settings.one_of("kernel_name_base", kNameBases, options.kernel_name_base);
  options.launches_per_shape = settings.whole("launches_per_shape", options.launches_per_shape, 1);
  options.launch_skip = settings.optional_whole("launch_skip");
  options.launch_count = settings.optional_whole("launch_count", 1);
  options.clock_control = settings.one_of("clock_control", kClocks, options.clock_control);
  options.extra_arguments = settings.texts("extra_arguments");
  options.short_run = settings.boolean("short_run", options.short_run);
  options.stop_when_measured = settings.boolean("stop_when_measured", options.stop_when_measured);
  settings.refuse_unknown_keys();
  return options;
}

TorchOptions read_torch_options(config::Settings settings) {
  TorchOptions options;
  options.record_shapes = settings.boolean("record_shapes", options.record_shapes);
  options.with_stack = settings.boolean("with_stack", options.with_stack);
  options.profile_memory = settings.boolean("profile_memory", options.profile_memory);
  options.requests = settings.whole("requests", options.requests, 1);
  settings.refuse_unknown_keys();
  return options;
}

}  // namespace llmprof::session
