#include "session/options/tool_options.h"

#include <fmt/format.h>
#include <regex.h>

#include <algorithm>
#include <array>

#include "base/text.h"

namespace llmprof::session {
namespace {

constexpr double kLongestWait = 86400;  // seconds
constexpr uint64_t kMostTokens = 1'000'000'000;
constexpr uint64_t kMostRanks = 65536;
constexpr double kMostTimesAsSlow = 1000;
constexpr double kLongestPeakSeconds = 600;

constexpr std::array<std::string_view, 7> kSignals = {"SIGINT",  "SIGTERM", "SIGQUIT", "SIGHUP",
                                                      "SIGUSR1", "SIGUSR2", "SIGKILL"};
constexpr std::array kSignalNumbers = {SIGINT, SIGTERM, SIGQUIT, SIGHUP, SIGUSR1, SIGUSR2, SIGKILL};
constexpr std::array<std::string_view, 4> kWorkloadModes = {"eager", "cuda_graph", "compiled",
                                                            "continuous_batching"};

int read_stop_signal(config::Settings& settings) {
  const std::string chosen = settings.one_of("stop_signal", kSignals, kSignals.front());
  const auto* at = std::ranges::find(kSignals, chosen);
  return kSignalNumbers.at(static_cast<size_t>(at - kSignals.begin()));
}

bool is_pattern(const std::string& text) {
  regex_t compiled{};
  if (regcomp(&compiled, text.c_str(), REG_EXTENDED | REG_NOSUB) != 0) return false;
  regfree(&compiled);
  return true;
}

void read_readiness(config::Settings settings, capture::ServerWorkload& server) {
  server.ready_url = settings.text("url");
  server.ready_log_pattern = settings.text("log_pattern");
  if (!server.ready_url.empty() && !server.ready_url.starts_with("http://")) {
    settings.wrong(
        "url", fmt::format("must begin with http://, but is '{}'", to_printable(server.ready_url)));
  }
  if (!server.ready_log_pattern.empty() && !is_pattern(server.ready_log_pattern)) {
    settings.wrong("log_pattern", fmt::format("must be a regular expression, but is '{}'",
                                              to_printable(server.ready_log_pattern)));
  }
  if (server.ready_url.empty() && server.ready_log_pattern.empty()) {
    settings.wrong("url", "is missing; set it or log_pattern to detect when the server is ready");
  }
  if (const auto seconds = settings.optional_number("timeout_s", 0.001, kLongestWait)) {
    server.ready_timeout = std::chrono::milliseconds(static_cast<int64_t>(*seconds * 1000));
  }
  settings.refuse_unknown_keys();
}

std::optional<capture::ServerWorkload> read_server(config::Settings& workload) {
  if (workload.node("server") == nullptr) return std::nullopt;
  config::Settings settings = workload.within("server");
  capture::ServerWorkload server;
  read_readiness(settings.within("ready"), server);
  server.warm_up = settings.texts("warm_up");
  server.client = settings.texts("client");
  if (server.client.empty()) {
    settings.wrong("client",
                   "is missing: name the command that sends requests while the server is profiled");
  }
  server.stop_signal = read_stop_signal(settings);
  settings.refuse_unknown_keys();
  return server;
}

bool is_variable_name(std::string_view name) {
  const auto belongs = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  };
  const bool begins_with_digit = !name.empty() && name.front() >= '0' && name.front() <= '9';
  return !name.empty() && !begins_with_digit && std::ranges::all_of(name, belongs);
}

std::vector<std::pair<std::string, std::string>> read_environment(config::Settings& workload) {
  std::vector<std::pair<std::string, std::string>> variables;
  const config::ConfigNode* map = workload.node("environment");
  config::Settings settings = workload.within("environment");
  if (map == nullptr || !map->is_map()) return variables;
  for (const std::string& name : map->keys) {
    if (!is_variable_name(name)) {
      settings.wrong(name, "is not a valid name of an environment variable");
    }
    variables.emplace_back(name, settings.text(name));
  }
  return variables;
}

// The argument list that runs the workload: its command, or the program after `--`.
std::vector<std::string> build_work_argv(config::Settings& settings,
                                         const std::vector<std::string>& program) {
  std::vector<std::string> argv = settings.texts("command");
  if (!program.empty()) argv = program;
  if (argv.empty() || argv.front().empty()) {
    settings.wrong("command", "is empty: put a program after --, or choose another workload");
  }
  return argv;
}

}  // namespace

void read_workload_options(config::Settings settings, const std::vector<std::string>& program,
                           RunOptions& options) {
  WorkloadFacts& facts = options.facts;
  facts.name = settings.text("name", program.empty() ? "workload" : "program");
  facts.prompt_tokens = settings.optional_whole("prompt_tokens", 1, kMostTokens);
  facts.new_tokens = settings.optional_whole("new_tokens", 1, kMostTokens);
  facts.batch = settings.optional_whole("batch", 1, kMostTokens);
  facts.requests = settings.optional_whole("requests", 1, kMostTokens);
  facts.seed = settings.optional_whole("seed");
  facts.expected_seconds = settings.optional_whole("expected_s");
  // Those that only a workload's own command uses.
  settings.optional_whole("warm_up", 0, kMostTokens);
  settings.optional_whole("threads", 1);
  settings.optional_number("peak_seconds", 0, kLongestPeakSeconds);
  settings.optional_whole("images", 0, kMostTokens);
  settings.optional_whole("port", 1, UINT16_MAX);
  settings.one_of("mode", kWorkloadModes, "eager");
  settings.text("python");
  settings.within("options");

  capture::WorkloadCommand& command = options.workload;
  command.argv = build_work_argv(settings, program);
  command.environment = read_environment(settings);
  command.working_folder = settings.text("working_folder");
  command.uses_cuda = settings.boolean("uses_cuda", true);
  settings.boolean("uses_torch", false);
  command.server = read_server(settings);
  options.ranks = settings.optional_whole("ranks", 1, kMostRanks);
  settings.optional_whole("slow_rank", 0, kMostRanks);
  settings.optional_number("slow_by", 1, kMostTimesAsSlow);
  settings.refuse_unknown_keys();
}

}  // namespace llmprof::session
