#include "mcp/json.h"

#include <algorithm>

namespace llmprof::mcp {
namespace {

// A parser's memory grows with open brackets, of which a message of megabytes has millions.
bool nests_too_deep(std::string_view text) {
  constexpr size_t kDeepest = 64;
  size_t depth = 0;
  bool is_in_text = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (is_in_text) {
      if (c == '\\') ++i;
      if (c == '"') is_in_text = false;
    } else if (c == '"') {
      is_in_text = true;
    } else if (c == '[' || c == '{') {
      if (++depth > kDeepest) return true;
    } else if ((c == ']' || c == '}') && depth > 0) {
      --depth;
    }
  }
  return false;
}

}  // namespace

std::optional<Json> parse_json(std::string_view text) {
  if (nests_too_deep(text)) return std::nullopt;
  Json parsed = Json::parse(text, nullptr, false);
  if (parsed.is_discarded()) return std::nullopt;
  return parsed;
}

std::string to_line(const Json& value) {
  return value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

// A line has no control characters and no bytes that are not UTF-8: these two are all that a string
// escapes.
size_t bytes_as_json(std::string_view line) {
  const auto escaped = std::ranges::count_if(line, [](char c) { return c == '"' || c == '\\'; });
  return line.size() + static_cast<size_t>(escaped) + 2;
}

const Json& member(const Json& object, std::string_view name) {
  static const Json none;
  if (!object.is_object()) return none;
  const auto found = object.find(name);
  return found == object.end() ? none : *found;
}

}  // namespace llmprof::mcp
