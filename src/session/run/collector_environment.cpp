#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>

#include "session/run/passes.h"

namespace llmprof::session {
namespace {

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
  };
}

bool is_set(const std::string& name) {
  const char* value = std::getenv(name.c_str());
  return value != nullptr && *value != '\0';
}

}  // namespace

Variables injection_environment(const RunRequest& request) {
  Variables variables = {{"CUDA_INJECTION64_PATH", request.program.collector->string()}};
  // Not LLMPROF_CUPTI: that would come before the one that the program brings itself.
  if (request.captures.cupti && !is_set("LLMPROF_CUPTI")) {
    const auto found = std::filesystem::absolute(*request.captures.cupti);
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
  if (!request.captures.collector_cuda) return variables;
  const Variables injection = injection_environment(request);
  variables.insert(variables.end(), injection.begin(), injection.end());
  variables.emplace_back("NVTX_INJECTION64_PATH", request.program.collector->string());
  const Variables watch = watch_environment(request, Watch::besides);
  variables.insert(variables.end(), watch.begin(), watch.end());
  // What the user's own shell may have set must not change what this run says it does.
  for (auto& [name, value] : settings_of(options)) {
    if (!value.empty() || is_set(name)) variables.emplace_back(name, std::move(value));
  }
  return variables;
}

}  // namespace llmprof::session
