#pragma once

#include <filesystem>
#include <ios>
#include <memory>
#include <optional>
#include <string>

#include "base/error.h"
#include "capture/http_get.h"
#include "capture/workload.h"

namespace llmprof::capture {

// Watches a server's URL and its log until all that was asked for is there.
class ServerReadiness {
 public:
  // An error of kind usage where nothing can be waited for: no URL and no pattern, or a wrong one.
  static Result<ServerReadiness> make(const ServerWorkload& server);

  // Whether somebody else answers there already; to be asked before the server is started.
  [[nodiscard]] bool is_taken() const;
  // Asks once, within a second or so.
  bool is_ready(const std::filesystem::path& log);
  // "http://127.0.0.1:8000/health to answer": what is waited for.
  [[nodiscard]] std::string waiting_for() const;

 private:
  struct Pattern;
  struct PatternDeleter {
    void operator()(Pattern* pattern) const;
  };
  ServerReadiness() = default;
  [[nodiscard]] bool url_answers() const;
  bool log_matches(const std::filesystem::path& log);

  std::string url_text_;
  std::string pattern_text_;
  std::optional<HttpUrl> url_;
  std::unique_ptr<Pattern, PatternDeleter> pattern_;
  std::streamoff log_read_ = 0;  // whole lines up to here do not match
  bool log_matched_ = false;
};

// run_pass for a workload that is a server: `command` is the server's, with its limits and with the
// tool in front.
Result<CommandRecord> run_server_pass(const WorkloadCommand& workload, const WorkloadPass& pass,
                                      const Command& command);

}  // namespace llmprof::capture
