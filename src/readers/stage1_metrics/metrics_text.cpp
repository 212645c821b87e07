#include "readers/stage1_metrics/metrics_text.h"

#include <algorithm>
#include <array>

#include "base/json_string.h"
#include "base/text.h"

namespace llmprof::readers {
namespace {

std::string_view without_mark(std::string_view text) {
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  return text;
}

}  // namespace

std::set<std::string> outermost_keys(std::string_view text) {
  text = trim(without_mark(text));
  std::set<std::string> keys;
  if (!text.starts_with('{')) return keys;
  JsonString string;
  std::string last;  // the last string at the outermost level: a key if a colon follows
  size_t depth = 0;
  for (const char c : text) {
    if (string.takes(c)) {
      if (string.open() && depth == 1) last += c;
      continue;
    }
    if (c == '"') {
      string.begin();
      if (depth == 1) last.clear();
    } else if (c == '{' || c == '[') {
      ++depth;
    } else if (c == '}' || c == ']') {
      if (depth <= 1) break;
      --depth;
    } else if (c == ':' && depth == 1) {
      keys.insert(last);
    }
  }
  return keys;
}

std::string as_plain_json(std::string_view text, uint64_t& non_finite) {
  constexpr std::array<std::string_view, 3> kWords = {"-Infinity", "Infinity", "NaN"};
  text = without_mark(text);
  std::string json;
  json.reserve(text.size());
  JsonString string;
  size_t kept = 0;  // up to here the text is in `json`
  for (size_t i = 0; i < text.size(); ++i) {
    if (string.takes(text[i])) continue;
    if (text[i] == '"') string.begin();
    if (text[i] != '-' && text[i] != 'I' && text[i] != 'N') continue;
    const std::string_view rest = text.substr(i);
    const auto* word = std::find_if(kWords.begin(), kWords.end(),
                                    [&](std::string_view w) { return rest.starts_with(w); });
    if (word == kWords.end()) continue;
    json += text.substr(kept, i - kept);
    json += "null";
    kept = i + word->size();
    i = kept - 1;
    ++non_finite;
  }
  json += text.substr(kept);
  return json;
}

}  // namespace llmprof::readers
