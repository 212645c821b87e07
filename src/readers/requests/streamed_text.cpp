#include "readers/requests/streamed_text.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "base/text.h"

namespace llmprof::readers {
namespace {

// Where the value of a key begins; npos if the text does not have it. Keys are searched by their
// end, "content\"": quotes are frequent, and slow to search. A quote within a string is escaped, so
// text that was generated cannot be mistaken for a key.
size_t value_of(std::string_view text, std::string_view end_of_key, size_t from = 0) {
  size_t at = text.find(end_of_key, from);
  if (at == std::string_view::npos) return at;
  at += end_of_key.size();
  while (at < text.size() && (is_blank(text[at]) || text[at] == ':')) ++at;
  return at;
}

bool has_text(std::string_view event) {
  // "content", "reasoning_content", "text", "reasoning"
  constexpr std::array<std::string_view, 3> kKeys = {"content\"", "text\"", "reasoning\""};
  return std::ranges::any_of(kKeys, [&](std::string_view key) {
    for (size_t at = value_of(event, key); at != std::string_view::npos;
         at = value_of(event, key, at)) {
      if (at + 1 < event.size() && event[at] == '"' && event[at + 1] != '"') return true;
    }
    return false;
  });
}

std::optional<uint64_t> number_of(std::string_view event, std::string_view end_of_key) {
  const size_t at = value_of(event, end_of_key);
  if (at == std::string_view::npos) return std::nullopt;
  uint64_t number = 0;
  const auto parsed = std::from_chars(event.data() + at, event.data() + event.size(), number);
  return parsed.ec == std::errc() ? std::optional(number) : std::nullopt;
}

}  // namespace

StreamedText read_streamed_text(std::string_view response) {
  StreamedText found;
  const std::string_view trimmed = trim(response);
  if (!trimmed.starts_with("data:") && !trimmed.starts_with('{')) {
    found.tokens = response.empty() ? 0 : 1;
    return found;
  }
  while (!response.empty()) {
    const size_t end = std::min(response.find('\n'), response.size());
    const std::string_view event = response.substr(0, end);
    response.remove_prefix(std::min(end + 1, response.size()));
    if (has_text(event)) ++found.tokens;
    if (event.find("usage\"") == std::string_view::npos) continue;
    if (const auto count = number_of(event, "prompt_tokens\"")) found.prompt_tokens = count;
    if (const auto count = number_of(event, "completion_tokens\"")) found.output_tokens = count;
    if (const auto count = number_of(event, "cached_tokens\"")) found.cached_tokens = count;
  }
  return found;
}

}  // namespace llmprof::readers
