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

int read_stop_signal(config::Settings& settings) {
  constexpr std::string_view kNames = "SIGINT SIGTERM SIGQUIT SIGHUP SIGUSR1 SIGUSR2 SIGKILL";
  constexpr std::array kNumbers = {SIGINT, SIGTERM, SIGQUIT, SIGHUP, SIGUSR1, SIGUSR2, SIGKILL};
  const auto names = split(kNames, ' ');
  const auto at = std::ranges::find(names, settings.one_of("stop_signal", kNames, "SIGINT"));
  return kNumbers.at(static_cast<size_t>(at - names.begin()));
}

bool is_pattern(const std::string& text) {
  regex_t compiled{};
  if (regcomp(&compiled, text.c_str(), REG_EXTENDED | REG_NOSUB) != 0) return false;
  regfree(&compiled);
  return true;
}

void read_readiness(config::Settings& settings, capture::ServerWorkload& server) {
  server.ready_url = settings.text("url");
  server.ready_log_pattern = settings.text("log_pattern");
  const bool is_https = server.ready_url.starts_with("https://");
  if (!server.ready_url.empty() && !is_https && !server.ready_url.starts_with("http://")) {
    settings.wrong("url", fmt::format("must begin with http:// or https://, but is '{}'",
                                      to_printable(server.ready_url)));
  }
  if (const auto file = settings.optional_text("ca_file")) {
    if (!is_https) settings.wrong("ca_file", "is only for a url that begins with https://");
    server.ready_ca_file = fs::absolute(*file).string();
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
}

void read_server(config::Settings& settings, capture::ServerWorkload& server) {
  settings.section("ready", [&](config::Settings& ready) { read_readiness(ready, server); });
  server.warm_up = settings.texts("warm_up");
  server.client = settings.texts("client");
  const bool has_load = settings.node("load") != nullptr;
  if (has_load) read_load_options(settings, server);
  if (server.client.empty() && !has_load) {
    settings.wrong("client",
                   "is missing: name the command that sends requests while the server is profiled, "
                   "or set server.load, and llmprof sends them");
  }
  if (!server.client.empty() && has_load) {
    settings.wrong("client", "and server.load both send requests: set only one of them");
  }
  server.stop_signal = read_stop_signal(settings);
}

void read_environment(config::Settings& settings, const config::ConfigNode& map,
                      std::vector<std::pair<std::string, std::string>>& variables) {
  for (const std::string& name : map.keys) {
    const bool valid =
        !name.empty() && !is_digit(name.front()) && std::ranges::all_of(name, is_identifier);
    if (!valid) settings.wrong(name, "is not a valid name of an environment variable");
    variables.emplace_back(name, settings.text(name));
  }
}

// The workload's command line: its own command, or the program after `--`.
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

void read_workload_options(config::Settings& settings, const std::vector<std::string>& program,
                           RunOptions& options) {
  WorkloadFacts& facts = options.facts;
  facts.name = settings.text("name", program.empty() ? "workload" : "program");
  facts.prompt_tokens = settings.optional_whole("prompt_tokens", 1, kMostTokens);
  facts.new_tokens = settings.optional_whole("new_tokens", 1, kMostTokens);
  facts.batch = settings.optional_whole("batch", 1, kMostTokens);
  facts.requests = settings.optional_whole("requests", 1, kMostTokens);
  facts.seed = settings.optional_whole("seed");
  facts.expected_seconds = settings.optional_whole("expected_s");
  // Keys that only a workload's own command uses.
  settings.optional_whole("warm_up", 0, kMostTokens);
  settings.optional_whole("threads", 1);
  settings.optional_number("peak_seconds", 0, kLongestPeakSeconds);
  settings.text("default_model");
  settings.optional_whole("images", 0, kMostTokens);
  settings.optional_whole("port", 1, UINT16_MAX);
  settings.one_of("mode", "eager cuda_graph compiled continuous_batching", "eager");
  settings.text("python");
  settings.within("options");

  capture::WorkloadCommand& command = options.workload;
  command.argv = build_work_argv(settings, program);
  if (const config::ConfigNode* map = settings.node("environment")) {
    settings.section("environment", [&](config::Settings& environment) {
      read_environment(environment, *map, command.environment);
    });
  }
  command.working_folder = settings.text("working_folder");
  command.uses_cuda = settings.boolean("uses_cuda", true);
  settings.boolean("uses_torch", false);
  if (settings.node("server") != nullptr) {
    settings.section(
        "server", [&](config::Settings& server) { read_server(server, command.server.emplace()); });
  }
  options.ranks = settings.optional_whole("ranks", 1, kMostRanks);
  settings.optional_whole("slow_rank", 0, kMostRanks);
  settings.optional_number("slow_by", 1, kMostTimesAsSlow);
}

}  // namespace llmprof::session
