#include "config/override.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"

namespace llmprof::config {
namespace {

constexpr size_t kLongestQuote = 120;
constexpr std::string_view kGrammar =
    "write key=value, +key=value to add a key, ~key to remove one, or group=choice";

bool belongs_in_a_key(char c) {
  const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
  const bool digit = c >= '0' && c <= '9';
  constexpr std::string_view kOthers = "_-./@[]";
  return letter || digit || kOthers.find(c) != std::string_view::npos;
}

OverrideAction take_action(std::string_view& text) {
  for (const std::string_view prefix : {"++", "+", "~"}) {
    if (!text.starts_with(prefix)) continue;
    text.remove_prefix(prefix.size());
    return prefix == "~" ? OverrideAction::remove : OverrideAction::add;
  }
  return OverrideAction::set;
}

}  // namespace

tl::unexpected<Error> Override::wrong(std::string_view what) const {
  return fail(ErrorKind::usage, fmt::format("{}: {}", *source, what));
}

Result<Override> parse_override(const std::string& text) {
  Override parsed;
  parsed.source = std::make_shared<const std::string>(
      fmt::format("override '{}'", shortened(to_printable(text), kLongestQuote)));
  std::string_view rest = text;
  parsed.action = take_action(rest);
  const size_t equals = rest.find('=');
  parsed.has_value = equals != std::string_view::npos;
  if (!parsed.has_value && parsed.action != OverrideAction::remove) {
    return parsed.wrong(fmt::format("has no '='; {}", kGrammar));
  }
  const std::string_view name = rest.substr(0, equals);
  if (name.empty() || !std::all_of(name.begin(), name.end(), belongs_in_a_key)) {
    return parsed.wrong(fmt::format("'{}' is not a valid key; {}",
                                    shortened(to_printable(name), kLongestQuote), kGrammar));
  }
  const size_t at = name.find('@');
  parsed.key = name.substr(0, at);
  if (at != std::string_view::npos) parsed.package = name.substr(at + 1);
  if (parsed.key.empty() || (at != std::string_view::npos && parsed.package.empty())) {
    return parsed.wrong("write a package as group@package=choice");
  }
  if (!parsed.has_value) return parsed;
  auto value = parse_override_value(rest.substr(equals + 1), parsed.source);
  if (!value) return fail_with(value.error());
  parsed.value = std::move(*value);
  return parsed;
}

}  // namespace llmprof::config
