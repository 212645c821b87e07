#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>

#include "base/files.h"
#include "base/machine.h"
#include "capture/shell.h"
#include "session/run/recordings.h"

namespace llmprof::session {
namespace {

// Ours comes first, so that the workload finds llmprof_annotate whatever else it imports.
std::string in_front_of(const std::string& variable, const std::string& ours) {
  const std::string theirs = environment_variable(variable);
  return theirs.empty() ? ours : ours + ":" + theirs;
}

std::string switched(bool on) { return on ? "on" : "off"; }

template <class T>
std::string number_or_nothing(const std::optional<T>& number) {
  return number ? fmt::format("{}", *number) : std::string();
}

// Empty: the collector's default.
Variables settings_of(const CollectorOptions& options) {
  return {
      {"LLMPROF_ARM", options.arm},
      {"LLMPROF_DELAY_MS", number_or_nothing(options.delay_ms)},
      {"LLMPROF_STEPS", number_or_nothing(options.steps)},
      {"LLMPROF_STEP_RANGE", options.step_range},
      {"LLMPROF_DUTY", options.duty
                           ? fmt::format("{}/{}", options.duty->traced, options.duty->period)
                           : std::string()},
      {"LLMPROF_OVERHEAD_BUDGET", number_or_nothing(options.overhead_budget)},
      {"LLMPROF_API", options.api ? "1" : ""},
      {"LLMPROF_COUNTERS", switched(options.counters)},
      {"LLMPROF_COUNTER_ROUNDS", switched(options.counter_rounds)},
      {"LLMPROF_COUNTER_HZ", number_or_nothing(options.counter_hz)},
      {"LLMPROF_SENSORS", switched(options.sensors)},
      {"LLMPROF_MEMORY", options.memory},
  };
}

bool is_set(const std::string& name) { return !environment_variable(name).empty(); }

// Programs built with a sanitizer refuse to start with a preloaded library.
bool is_sanitized(const fs::path& program) {
  constexpr std::array<std::string_view, 3> kRuntimes = {"__asan_init", "__tsan_init",
                                                         "__msan_init"};
  constexpr size_t kWindow = 1UL << 20U;
  constexpr size_t kOverlap = 32;
  if (!is_file(program)) return false;
  std::ifstream file(program, std::ios::binary);
  std::string window;
  while (file) {
    const size_t kept = std::min(window.size(), kOverlap);
    window.erase(0, window.size() - kept);
    window.resize(kept + kWindow);
    file.read(window.data() + kept, kWindow);
    window.resize(kept + static_cast<size_t>(file.gcount()));
    if (std::ranges::any_of(kRuntimes, [&](std::string_view runtime) {
          return window.find(runtime) != std::string::npos;
        })) {
      return true;
    }
  }
  return false;
}

// Settings for every tool.
template <class ToolRequest>
void begin_request(const RunRequest& request, const Artifacts& bundle, ToolRequest& wanted) {
  wanted.workload = request.options.workload;
  wanted.bundle = bundle.root();
  wanted.limits = recording_limits(request);
}

}  // namespace

Variables recording_environment(const RunRequest& request, const fs::path& metrics,
                                Annotations annotations, const fs::path& log_folder) {
  Variables variables;
  variables.emplace_back("LLMPROF_METRICS", fs::absolute(metrics).string());
  if (!request.program.home.empty()) {
    variables.emplace_back("PYTHONPATH",
                           in_front_of("PYTHONPATH", (request.program.home / "python").string()));
  }
  // A variable from the user's shell must not make an unprofiled run record.
  const bool annotated = annotations == Annotations::on && request.program.collector;
  variables.emplace_back("LLMPROF_COLLECTOR",
                         annotated ? request.program.collector->string() : std::string());
  variables.emplace_back("LLMPROF_LOG_DIR", annotated && !log_folder.empty()
                                                ? fs::absolute(log_folder).string()
                                                : std::string());
  return variables;
}

capture::CaptureLimits recording_limits(const RunRequest& request) {
  capture::CaptureLimits limits;
  limits.timeout = request.options.timeout;
  limits.max_bytes = request.options.max_trace_bytes;
  limits.stop = request.stop;
  return limits;
}

Variables injection_environment(const RunRequest& request) {
  Variables variables = {{"CUDA_INJECTION64_PATH", request.program.collector->string()}};
  // Not LLMPROF_CUPTI, which would have precedence over the program's own CUPTI.
  if (request.captures.cupti && !is_set("LLMPROF_CUPTI")) {
    const auto found = fs::absolute(*request.captures.cupti);
    variables.emplace_back("LLMPROF_CUPTI_FALLBACK", found.string());
  }
  return variables;
}

Variables collector_environment(const RunRequest& request) {
  Variables variables;
  const CollectorOptions& options = request.options.collector;
  if (options.max_log_mb) {
    variables.emplace_back("LLMPROF_LOG_MAX_MB", std::to_string(*options.max_log_mb));
  }
  const auto hand_over = [&](const char* name, auto list) {
    const auto texts = request.engines.all(list);
    if (!texts.empty()) variables.emplace_back(name, fmt::format("{}", fmt::join(texts, ",")));
  };
  hand_over("LLMPROF_RANK_TITLES", &analysis::EngineRule::rank_titles);
  hand_over("LLMPROF_RANK_VARIABLES", &analysis::EngineRule::rank_variables);
  if (!request.captures.collector_cuda) return variables;
  append(injection_environment(request), variables);
  variables.emplace_back("NVTX_INJECTION64_PATH", request.program.collector->string());
  append(launch_timing_environment(request, LaunchTiming::beside_tracing), variables);
  // Variables from the user's shell must not override this run's options.
  for (auto& [name, value] : settings_of(options)) {
    if (!value.empty() || is_set(name)) variables.emplace_back(name, std::move(value));
  }
  return variables;
}

Variables launch_timing_environment(const RunRequest& request, LaunchTiming timing) {
  const auto& workload = request.options.workload;
  if (!request.captures.collector_cuda || !request.program.collector || workload.argv.empty()) {
    return {};
  }
  const auto found = capture::find_executable(workload.argv.front(), environment_variable("PATH"));
  if (found && is_sanitized(*found)) return {};
  return {
      {"LD_PRELOAD", in_front_of("LD_PRELOAD", fs::absolute(*request.program.collector).string())},
      {"LLMPROF_WATCH", timing == LaunchTiming::alone ? "only" : "on"}};
}

capture::NsysRequest nsys_request(const RunRequest& request, const Artifacts& bundle) {
  capture::NsysRequest wanted;
  begin_request(request, bundle, wanted);
  wanted.options = request.options.nsys;
  wanted.annotations = bundle.path(kNsysAnnotations);
  wanted.environment = recording_environment(request, bundle.path("nsys/metrics.json"),
                                             Annotations::on, wanted.annotations);
  return wanted;
}

capture::NcuRequest ncu_request(const RunRequest& request, const Artifacts& bundle) {
  capture::NcuRequest wanted;
  begin_request(request, bundle, wanted);
  wanted.options = request.options.ncu;
  wanted.environment =
      recording_environment(request, bundle.path("ncu/metrics.json"), Annotations::on);
  if (wanted.options.short_run) {
    wanted.environment.emplace_back("LLMPROF_SHORT_RUN",
                                    R"({"requests":1,"new_tokens":8,"warm_up":0})");
  }
  return wanted;
}

}  // namespace llmprof::session
