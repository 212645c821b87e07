#include "capture/recording.h"

#include <fmt/format.h>
#include <regex.h>

#include <array>
#include <csignal>
#include <fstream>
#include <memory>
#include <optional>

#include "base/needed.h"
#include "base/text.h"
#include "capture/process.h"
#include "capture/shell.h"
#include "http/ca_certificates.h"
#include "http/get.h"

namespace llmprof::capture {

namespace {

constexpr std::chrono::seconds kLongestAnswer(1);
constexpr int kFirstServerError = 500;

// Watches a server's URL and its log until both show that it is ready.
class ServerReadiness {
 public:
  // Throws an error of kind usage if there is nothing to wait for: no URL and no pattern, or a
  // wrong one.
  explicit ServerReadiness(const ServerWorkload& server) : server_(server) {
    if (server.ready_url.empty() && server.ready_log_pattern.empty()) {
      give_up(ErrorKind::usage,
              "workload.server.ready: no readiness check is configured; set url "
              "(http://127.0.0.1:8000/health) or log_pattern");
    }
    if (!server.ready_url.empty()) {
      auto url = http::parse_url(server.ready_url);
      if (!url) throw Failure(url.error().within("workload.server.ready.url"));
      url_ = std::move(*url);
      if (url_->tls) check_certificates();
    }
    if (server.ready_log_pattern.empty()) return;
    auto pattern = std::make_unique<regex_t>();
    const int fault =
        ::regcomp(pattern.get(), server.ready_log_pattern.c_str(), REG_EXTENDED | REG_NOSUB);
    if (fault != 0) {
      std::array<char, 200> reason{};
      ::regerror(fault, pattern.get(), reason.data(), reason.size());
      give_up(ErrorKind::usage,
              fmt::format("workload.server.ready.log_pattern: '{}' is not an extended regular "
                          "expression: {}",
                          to_printable(server.ready_log_pattern), reason.data()));
    }
    pattern_.reset(pattern.release());
  }

  // Whether another server already answers there; ask before the server is started.
  [[nodiscard]] bool is_taken() { return url_ && status().has_value(); }
  // Checks once, within a second or so.
  bool is_ready(const std::filesystem::path& log) {
    return (!pattern_ || log_matches(log)) &&
           (!url_ || status().value_or(kFirstServerError) < kFirstServerError);
  }
  // "http://127.0.0.1:8000/health to answer": what is waited for.
  [[nodiscard]] std::string waiting_for() const {
    std::string text;
    if (pattern_)
      text = fmt::format("a line that matches '{}'", to_printable(server_.ready_log_pattern));
    if (pattern_ && url_) text += " and ";
    if (url_) text += fmt::format("{} to answer", to_printable(server_.ready_url));
    if (!last_error_.empty()) text += fmt::format(" ({})", to_printable(last_error_));
    return text;
  }

 private:
  struct FreePattern {
    void operator()(regex_t* pattern) const {
      ::regfree(pattern);
      delete pattern;
    }
  };

  // Before anything is started: without certificates, no server is ever trusted.
  void check_certificates() {
    auto certificates = http::find_ca_certificates(server_.ready_ca_file);
    if (!certificates) throw Failure(certificates.error().within("workload.server.ready.ca_file"));
    client_.ca_file = server_.ready_ca_file;
  }

  std::optional<int> status() {
    const auto answer = http::get_status(*url_, kLongestAnswer, client_);
    last_error_ = answer ? "" : answer.error().message;
    return answer ? std::optional(*answer) : std::nullopt;
  }

  bool log_matches(const std::filesystem::path& log) {
    if (log_matched_) return true;
    std::ifstream stream(log, std::ios::binary);
    stream.seekg(log_read_);
    for (std::string line; std::getline(stream, line);) {
      const bool is_whole = !stream.eof();
      if (::regexec(pattern_.get(), line.c_str(), 0, nullptr, 0) == 0) {
        log_matched_ = true;
        return true;
      }
      // A line that is still being written is read again next time.
      if (is_whole) log_read_ += static_cast<std::streamoff>(line.size()) + 1;
    }
    return false;
  }

  const ServerWorkload& server_;
  std::optional<http::Url> url_;
  http::ClientOptions client_;
  std::string last_error_;  // why the URL did not answer; empty: it did
  // POSIX extended regular expressions of the C library: one line at a time, for the user's own
  // pattern, does not justify another library.
  std::unique_ptr<regex_t, FreePattern> pattern_;
  std::streamoff log_read_ = 0;  // complete lines up to here do not match
  bool log_matched_ = false;
};

using Clock = std::chrono::steady_clock;
constexpr std::chrono::milliseconds kReadinessInterval(200);

std::string signal_name(int signal) {
  const char* name = ::sigabbrev_np(signal);
  return name == nullptr ? fmt::format("signal {}", signal) : fmt::format("SIG{}", name);
}

// One server during a recording.
class ServerRecording {
 public:
  ServerRecording(const WorkloadCommand& workload, const WorkloadRecording& recording,
                  const Command& command, RecordedCommand server)
      : workload_(workload), recording_(recording), command_(command), server_(std::move(server)) {}

  CommandRecord run(ServerReadiness& readiness) {
    wait_until_ready(readiness);
    const ServerWorkload& server = *workload_.server;
    for (const auto& [suffix, argv] : {std::pair("warm_up", server.warm_up),
                                       {"client", server.client},
                                       {"load", load_command()}}) {
      if (!early_ && !argv.empty()) run_client(suffix, argv);
    }
    if (!early_) stop();
    CommandRecord record = early_ ? std::move(*early_) : server_.finish(asked_to_stop_);
    if (trouble_ && !record.trouble) record.trouble = std::move(trouble_);
    return record;
  }

 private:
  // Empty if a client sends the requests.
  [[nodiscard]] std::vector<std::string> load_command() const {
    std::vector<std::string> argv = workload_.server->load;
    if (argv.empty()) return argv;
    const std::filesystem::path folder = recording_.folder / (recording_.name + "-load");
    argv.insert(argv.end(), {"--out", std::filesystem::absolute(folder).string()});
    return argv;
  }

  // The server ended early: by a limit, which its record names, or by a fault.
  void ended_early(std::string_view when) {
    early_ = server_.finish();
    if (early_->result.hit_limit()) return;
    give_up(ErrorKind::tool,
            fmt::format("the server ended {}: {}; {}; see {}", when, describe_end(early_->result),
                        printed_words(early_->result.output_tail), server_.log().string()));
  }

  void wait_until_ready(ServerReadiness& readiness) {
    const Clock::time_point deadline = Clock::now() + workload_.server->ready_timeout;
    Clock::time_point next_look = Clock::now();
    while (true) {
      if (server_.ended()) return ended_early("before it was ready");
      if (Clock::now() >= next_look) {
        if (readiness.is_ready(server_.log())) return;
        next_look = Clock::now() + kReadinessInterval;
      }
      if (Clock::now() >= deadline) break;
    }
    server_.end();
    const CommandRecord record = server_.finish();
    give_up(
        ErrorKind::tool,
        fmt::format("the server was not ready after {:.0f} s, waiting for {}; {}; see {}. Correct "
                    "workload.server.ready.url or workload.server.ready.log_pattern, or raise "
                    "workload.server.ready.timeout_s",
                    std::chrono::duration<double>(workload_.server->ready_timeout).count(),
                    readiness.waiting_for(), printed_words(record.result.output_tail),
                    server_.log().string()));
  }

  void run_client(std::string_view suffix, const std::vector<std::string>& argv) {
    Command command;
    command.argv = argv;
    command.environment = command_.environment;
    command.working_folder = command_.working_folder;
    command.grace = command_.grace;
    command.whole_tree = false;
    auto client = RecordedCommand::start(
        recording_.folder, fmt::format("{}-{}", recording_.name, suffix), std::move(command));
    if (!client) {
      server_.end();
      server_.finish();
      throw Failure(client.error());
    }
    while (!client->ended()) {
      if (!server_.ended()) continue;
      client->end();
      client->finish();
      return ended_early(fmt::format("while its {} ran", suffix));
    }
    const CommandRecord record = client->finish();
    if (!record.ended_well() && !trouble_) {
      trouble_ = Error{
          ErrorKind::tool,
          fmt::format("the server's {} failed: {}; {}; see {}", suffix, describe_end(record.result),
                      printed_words(record.result.output_tail), record.log.string())};
    }
  }

  // The signal goes to the server itself: a profiler around it must see it end to write its report.
  // If the server cannot be found, the profiler gets the signal and passes it on.
  void stop() {
    asked_to_stop_ = true;
    const pid_t wrapped =
        recording_.wrapper.empty() ? 0 : find_wrapped(server_.pid(), workload_.argv);
    const pid_t target = wrapped != 0 ? wrapped : server_.pid();
    const auto known = read_process(target);
    for (const int signal : {workload_.server->stop_signal, SIGTERM, SIGKILL}) {
      if (signal == SIGKILL && !recording_.wrapper.empty()) {
        trouble_ = Error{
            ErrorKind::tool,
            fmt::format("the server did not end within {1:.0f} s of {0} or of SIGTERM, and was "
                        "killed: what the profiler had in memory is lost; set "
                        "workload.server.stop_signal to the signal that ends it",
                        signal_name(workload_.server->stop_signal),
                        std::chrono::duration<double>(command_.grace).count())};
      }
      ::kill(target, signal);
      if (goes_within_grace(target, known)) break;
    }
    while (!server_.ended()) {
    }
  }

  bool goes_within_grace(pid_t target, const std::optional<ProcessRow>& known) {
    const Clock::time_point deadline = Clock::now() + command_.grace;
    while (Clock::now() < deadline) {
      if (server_.ended()) return true;
      const auto now = read_process(target);
      if (target != server_.pid() &&
          (!now || now->is_zombie || (known && now->start_time != known->start_time))) {
        return true;
      }
    }
    return false;
  }

  const WorkloadCommand& workload_;
  const WorkloadRecording& recording_;
  const Command& command_;
  RecordedCommand server_;
  std::optional<Error> trouble_;
  bool asked_to_stop_ = false;
  std::optional<CommandRecord> early_;
};

}  // namespace

Result<CommandRecord> record_server(const WorkloadCommand& workload,
                                    const WorkloadRecording& recording, const Command& command) {
  return attempt([&] {
    ServerReadiness readiness(*workload.server);
    if (readiness.is_taken()) {
      give_up(ErrorKind::tool,
              fmt::format("something answers at {} before the server is started; stop it, or give "
                          "the server another port",
                          workload.server->ready_url));
    }
    auto server = needed(RecordedCommand::start(recording.folder, recording.name, command));
    return ServerRecording(workload, recording, command, std::move(server)).run(readiness);
  });
}

}  // namespace llmprof::capture
