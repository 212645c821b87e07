#include "readers/shared/python_json.h"

#include <algorithm>
#include <array>

#include "base/json_string.h"

namespace llmprof::readers {

std::string_view without_byte_order_mark(std::string_view text) {
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  return text;
}

std::string as_plain_json(std::string_view text, uint64_t& non_finite) {
  constexpr std::array<std::string_view, 3> kWords = {"-Infinity", "Infinity", "NaN"};
  text = without_byte_order_mark(text);
  std::string json;
  json.reserve(text.size());
  JsonString string;
  size_t kept = 0;  // the text up to here is in `json`
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
