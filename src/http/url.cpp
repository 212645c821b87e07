#include "http/url.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"

namespace llmprof::http {
namespace {

constexpr uint16_t kPlainPort = 80;
constexpr uint16_t kTlsPort = 443;

tl::unexpected<Error> bad_url(std::string_view url, std::string_view what) {
  return fail(ErrorKind::usage,
              fmt::format("'{}' is not a usable URL: {}", to_printable(url), what));
}

bool is_host_character(char c) {
  return is_lower(c) || is_upper(c) || is_digit(c) || c == '.' || c == '-' || c == '_';
}
bool is_v6_character(char c) {
  return is_digit(c) || (to_lower(c) >= 'a' && to_lower(c) <= 'f') || c == ':' || c == '.';
}

bool starts_ignoring_case(std::string_view text, std::string_view prefix) {
  return equals_ignoring_case(text.substr(0, prefix.size()), prefix);
}

}  // namespace

std::string Url::authority() const {
  const bool is_v6 = host.find(':') != std::string::npos;
  const std::string name = is_v6 ? fmt::format("[{}]", host) : host;
  return port == (tls ? kTlsPort : kPlainPort) ? name : fmt::format("{}:{}", name, port);
}

std::string Url::text() const {
  return fmt::format("{}://{}{}", tls ? "https" : "http", authority(), target);
}

std::string_view Url::path() const { return std::string_view(target).substr(0, target.find('?')); }

Url Url::with_target(std::string_view new_target) const {
  Url other = *this;
  other.target = std::string(new_target);
  return other;
}

Result<Url> parse_url(std::string_view url) {
  constexpr std::string_view kPlain = "http://";
  constexpr std::string_view kTls = "https://";
  constexpr int64_t kLastPort = 65535;
  Url parsed;
  parsed.tls = starts_ignoring_case(url, kTls);
  if (!parsed.tls && !starts_ignoring_case(url, kPlain)) {
    return bad_url(url, "it must start with http:// or https://");
  }
  const bool has_blank = std::any_of(url.begin(), url.end(), [](char c) {
    return static_cast<unsigned char>(c) <= ' ' || static_cast<unsigned char>(c) >= '\x7F';
  });
  if (has_blank) {
    return bad_url(url, "it contains a space, a control character or a character beyond ASCII");
  }
  std::string_view rest = url.substr(parsed.tls ? kTls.size() : kPlain.size());
  rest = rest.substr(0, rest.find('#'));
  const size_t slash = std::min(rest.find_first_of("/?"), rest.size());
  std::string_view authority = rest.substr(0, slash);
  parsed.target = std::string(rest.substr(slash));
  if (!parsed.target.starts_with('/')) parsed.target.insert(0, "/");
  if (authority.find('@') != std::string_view::npos) {
    return fail(ErrorKind::usage, "a URL with a user name or a password is not accepted");
  }

  parsed.port = parsed.tls ? kTlsPort : kPlainPort;
  const size_t bracket = authority.rfind(']');
  const size_t colon = authority.rfind(':');
  if (colon != std::string_view::npos && (bracket == std::string_view::npos || colon > bracket)) {
    const auto port = parse_int(authority.substr(colon + 1));
    if (!port || *port < 1 || *port > kLastPort) return bad_url(url, "its port is invalid");
    parsed.port = static_cast<uint16_t>(*port);
    authority = authority.substr(0, colon);
  }
  const bool is_v6 = authority.starts_with('[') && authority.ends_with(']');
  if (is_v6) authority = authority.substr(1, authority.size() - 2);
  if (authority.empty() || !std::all_of(authority.begin(), authority.end(),
                                        is_v6 ? is_v6_character : is_host_character)) {
    return bad_url(url, "its host must be a name or an IP address such as 127.0.0.1 or [::1]");
  }
  parsed.host = std::string(authority);
  return parsed;
}

}  // namespace llmprof::http
