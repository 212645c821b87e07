#include "session/options/tool_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/text.h"

namespace llmprof::session {
namespace {

// Values that nsys and ncu accept, separated by blanks.
constexpr std::string_view kTraces =
    "cuda nvtx osrt cublas cudnn cuda-hw cublas-verbose cusparse cusparse-verbose cusolver "
    "cusolver-verbose mpi oshmem ucx openacc openmp opengl opengl-annotations vulkan "
    "vulkan-annotations nvvideo nvmedia python-gil syscall gds tegra-accelerators";
constexpr std::string_view kSamples = "none cpu process-tree system-wide";
constexpr std::string_view kCaptureRanges = "none nvtx cudaProfilerApi";
constexpr std::string_view kRangeEnds = "none stop stop-shutdown repeat repeat-shutdown";
constexpr std::string_view kGraphTraces = "node graph";
constexpr std::string_view kTargets = "all application-only";
constexpr std::string_view kSets = "basic default detailed full nvlink pmsampling roofline source";
constexpr std::string_view kSections =
    "SpeedOfLight SpeedOfLight_RooflineChart SpeedOfLight_HierarchicalDoubleRooflineChart "
    "SpeedOfLight_HierarchicalHalfRooflineChart "
    "SpeedOfLight_HierarchicalSingleRooflineChart "
    "SpeedOfLight_HierarchicalTensorRooflineChart ComputeWorkloadAnalysis "
    "MemoryWorkloadAnalysis MemoryWorkloadAnalysis_Chart MemoryWorkloadAnalysis_Deprecated "
    "MemoryWorkloadAnalysis_Tables LaunchStats Occupancy SchedulerStats WarpStateStats "
    "InstructionStats SourceCounters NumaAffinity Nvlink Nvlink_Tables Nvlink_Topology "
    "PmSampling PmSampling_WarpStates WorkloadDistribution C2CLink";
constexpr std::string_view kReplays = "kernel application range app-range";
constexpr std::string_view kNameBases = "demangled function mangled";
constexpr std::string_view kClocks = "base none boost reset";
constexpr std::string_view kMemory = "armed always calls off";
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
  }
  return settings.one_of(kKey, kRangeEnds, "stop");
}

// nsys puts the range first, ncu the domain: a value in the wrong order never matches.
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

void read_nvtx_include(config::Settings& settings, std::vector<std::string>& ranges) {
  ranges = settings.texts("include");
  for (const std::string& range : ranges) {
    if (!range.ends_with("@LLM") && !range.ends_with("@LLM/") && !range.empty()) continue;
    settings.wrong("include",
                   fmt::format("must be Domain@Range/, as ncu takes it (LLM@decode_all/), "
                               "but is '{}'",
                               to_printable(range)));
  }
}

std::vector<std::string> read_sections(config::Settings& settings) {
  std::vector<std::string> sections = settings.texts("sections");
  const bool patterns = std::ranges::any_of(
      sections, [](const std::string& name) { return name.starts_with(kRegex); });
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

constexpr uint64_t kLargestLog = 1'000'000'000;     // MB
constexpr uint64_t kLongestDelay = 7UL * 86400000;  // ms
constexpr uint64_t kLongestPeriod = 1'000'000;      // steps
constexpr uint64_t kFastestCounters = 200'000;      // samples per second
constexpr double kLargestBudget = 100;              // percent
// Switching costs about 20 us each way, which is little for a window of several steps.
constexpr uint64_t kStepsOfWindow = 4;

std::optional<DutyCycle> parse_duty(std::string_view text) {
  const size_t slash = text.find('/');
  if (slash == std::string_view::npos) {
    const auto share = parse_int(text);
    if (!share || *share < 1) return std::nullopt;
    return DutyCycle{kStepsOfWindow, kStepsOfWindow * static_cast<uint64_t>(*share)};
  }
  const auto traced = parse_int(text.substr(0, slash));
  const auto period = parse_int(text.substr(slash + 1));
  if (!traced || !period || *traced < 1 || *period < *traced) return std::nullopt;
  return DutyCycle{static_cast<uint64_t>(*traced), static_cast<uint64_t>(*period)};
}

std::optional<DutyCycle> read_duty(config::Settings& settings) {
  constexpr std::string_view kKey = "duty";
  const auto written = settings.optional_text(kKey);
  if (!written) return std::nullopt;
  const auto duty = parse_duty(trim(*written));
  if (duty && duty->period <= kLongestPeriod) return duty;
  settings.wrong(kKey,
                 fmt::format("must be T/P, to trace T of every P steps (4/32), or N, to trace 4 of "
                             "every 4*N steps, with P of at most {}, but is '{}'",
                             kLongestPeriod, to_printable(*written)));
}

std::optional<double> read_budget(config::Settings& settings) {
  constexpr std::string_view kKey = "overhead_budget";
  const auto written = settings.optional_text(kKey);
  if (!written) return std::nullopt;
  std::string_view number = trim(*written);
  if (number.ends_with('%')) number.remove_suffix(1);
  const auto percent = parse_decimal(trim(number));
  if (percent && *percent > 0 && *percent <= kLargestBudget) return percent;
  settings.wrong(kKey, fmt::format("must be percent of the program's own time, above 0 and at most "
                                   "{} (2%), but is '{}'",
                                   kLargestBudget, to_printable(*written)));
}

// A misspelled word would mean a range that never opens, and nothing would be recorded.
std::string read_arm(config::Settings& settings) {
  constexpr std::string_view kKey = "arm";
  constexpr std::string_view kOurDomain = "@LLM";
  constexpr std::array<std::string_view, 2> kWords = {"start", "command"};
  std::string written = settings.text(kKey, kWords.front());
  const auto refuse = [&](std::string_view meant) {
    settings.wrong(kKey,
                   fmt::format("must be start, command or a range as reports name it "
                               "(LLM@decode_all), but is '{}'{}",
                               to_printable(written),
                               meant.empty() ? "" : fmt::format("; did you mean '{}'?", meant)));
  };
  std::string_view range = written;
  if (range.ends_with('/')) range.remove_suffix(1);  // as ncu writes push/pop ranges
  if (range.ends_with(kOurDomain)) {                 // as nsys writes them
    range.remove_suffix(kOurDomain.size());
    refuse(range.empty() ? std::string() : fmt::format("LLM@{}", range));
  } else if (range.empty() || range.ends_with('@')) {
    refuse({});
  } else if (range.size() != written.size()) {
    refuse(range);
  } else if (const auto word = nearest(written, kWords); word && *word != written) {
    refuse(*word);
  }
  return written;
}

void refuse_contradictions(config::Settings& settings, const CollectorOptions& options) {
  if (options.duty && options.overhead_budget) {
    settings.wrong(
        "overhead_budget",
        "chooses the duty cycle automatically, but collector.duty is set too; choose one");
  }
  if (options.memory == "always" && options.overhead_budget) {
    settings.wrong("memory",
                   "is always, which attaches CUPTI all the time, but collector.overhead_budget "
                   "attaches it in windows; choose collector.memory=calls");
  }
  if (options.delay_ms && options.arm != "start") {
    settings.wrong("delay_ms", fmt::format("and collector.arm={} both start recording; choose one",
                                           to_printable(options.arm)));
  }
}

}  // namespace

void read_nsys_options(config::Settings& settings, capture::NsysOptions& options) {
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
}

void read_ncu_options(config::Settings& settings, capture::NcuOptions& options) {
  options.target_processes =
      settings.one_of("target_processes", kTargets, options.target_processes);
  options.gating_nvtx = settings.boolean("gating_nvtx", options.gating_nvtx);
  settings.section("nvtx",
                   [&](config::Settings& nvtx) { read_nvtx_include(nvtx, options.nvtx_include); });
  options.set = settings.one_of("set", kSets, "");
  options.sections = read_sections(settings);
  options.metrics = read_metrics(settings);
  if (options.set.empty() && options.sections.empty() && options.metrics.empty()) {
    settings.wrong("metrics", "is empty, and so are set and sections: ncu would measure nothing");
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
}

void read_torch_options(config::Settings& settings, TorchOptions& options) {
  options.record_shapes = settings.boolean("record_shapes", options.record_shapes);
  options.with_stack = settings.boolean("with_stack", options.with_stack);
  options.profile_memory = settings.boolean("profile_memory", options.profile_memory);
  options.memory_snapshot = settings.boolean("memory_snapshot", options.memory_snapshot);
  options.requests = settings.whole("requests", options.requests, 1);
}

void read_collector_options(config::Settings& settings, CollectorOptions& options) {
  options.max_log_mb = settings.optional_whole("max_log_mb", 1, kLargestLog);
  options.arm = read_arm(settings);
  options.delay_ms = settings.optional_whole("delay_ms", 0, kLongestDelay);
  options.steps = settings.optional_whole("steps", 1);
  options.step_range = settings.text("step_range", options.step_range);
  if (options.step_range.empty()) settings.wrong("step_range", "is empty: name a range");
  options.duty = read_duty(settings);
  options.overhead_budget = read_budget(settings);
  options.api = settings.boolean("api", options.api);
  options.counters = settings.boolean("counters", options.counters);
  options.counter_rounds = settings.boolean("counter_rounds", options.counter_rounds);
  options.counter_hz = settings.optional_whole("counter_hz", 1, kFastestCounters);
  options.sensors = settings.boolean("sensors", options.sensors);
  options.memory = settings.one_of("memory", kMemory, options.memory);
  refuse_contradictions(settings, options);
}

}  // namespace llmprof::session
