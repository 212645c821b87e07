#include "capture/server_readiness.h"

#include <fmt/format.h>
#include <regex.h>

#include <array>
#include <fstream>

#include "base/text.h"

namespace llmprof::capture {

// POSIX extended regular expressions of the C library: one line at a time, for the user's own
// pattern, is not a reason for a library.
struct ServerReadiness::Pattern {
  regex_t compiled{};
};

namespace {

constexpr std::chrono::seconds kLongestAnswer(1);
constexpr int kFirstServerError = 500;

}  // namespace

void ServerReadiness::PatternDeleter::operator()(Pattern* pattern) const {
  ::regfree(&pattern->compiled);
  delete pattern;
}

Result<ServerReadiness> ServerReadiness::make(const ServerWorkload& server) {
  if (server.ready_url.empty() && server.ready_log_pattern.empty()) {
    return fail(ErrorKind::usage,
                "workload.server.ready: no readiness check is configured; set url "
                "(http://127.0.0.1:8000/health) or log_pattern");
  }
  ServerReadiness readiness;
  readiness.url_text_ = server.ready_url;
  readiness.pattern_text_ = server.ready_log_pattern;
  if (!server.ready_url.empty()) {
    auto url = parse_http_url(server.ready_url);
    if (!url) return fail_with(url.error().within("workload.server.ready.url"));
    readiness.url_ = std::move(*url);
  }
  if (!server.ready_log_pattern.empty()) {
    auto pattern = std::make_unique<Pattern>();
    const int fault =
        ::regcomp(&pattern->compiled, server.ready_log_pattern.c_str(), REG_EXTENDED | REG_NOSUB);
    if (fault != 0) {
      std::array<char, 200> reason{};
      ::regerror(fault, &pattern->compiled, reason.data(), reason.size());
      return fail(ErrorKind::usage,
                  fmt::format("workload.server.ready.log_pattern: '{}' is not an extended regular "
                              "expression: {}",
                              to_printable(server.ready_log_pattern), reason.data()));
    }
    readiness.pattern_.reset(pattern.release());
  }
  return readiness;
}

bool ServerReadiness::is_taken() const {
  return url_ && http_get_status(*url_, kLongestAnswer).has_value();
}

bool ServerReadiness::is_ready(const std::filesystem::path& log) {
  return (!pattern_ || log_matches(log)) && (!url_ || url_answers());
}

std::string ServerReadiness::waiting_for() const {
  std::string text;
  if (pattern_) text = fmt::format("a line that matches '{}'", to_printable(pattern_text_));
  if (pattern_ && url_) text += " and ";
  if (url_) text += fmt::format("{} to answer", to_printable(url_text_));
  return text;
}

bool ServerReadiness::url_answers() const {
  const auto status = http_get_status(*url_, kLongestAnswer);
  return status && *status < kFirstServerError;
}

bool ServerReadiness::log_matches(const std::filesystem::path& log) {
  if (log_matched_) return true;
  std::ifstream stream(log, std::ios::binary);
  stream.seekg(log_read_);
  for (std::string line; std::getline(stream, line);) {
    const bool is_whole = !stream.eof();
    if (::regexec(&pattern_->compiled, line.c_str(), 0, nullptr, 0) == 0) {
      log_matched_ = true;
      return true;
    }
    // The rest of a line that is being written comes with the next look.
    if (is_whole) log_read_ += static_cast<std::streamoff>(line.size()) + 1;
  }
  return false;
}

}  // namespace llmprof::capture
