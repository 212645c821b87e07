#include "readers/requests/object_array.h"

#include <algorithm>
#include <utility>

#include "base/json_string.h"
#include "base/streams/byte_stream.h"
#include "base/text.h"
#include "readers/requests/request_rows.h"
#include "readers/shared/json_text.h"
#include "readers/shared/python_json.h"

namespace llmprof::readers {

Result<PaddedText> PaddedText::read(const std::filesystem::path& path) {
  auto stream = open_byte_stream(path);
  if (!stream) return fail_with(stream.error());
  std::error_code unknown;
  const auto size = std::filesystem::file_size(path, unknown);
  auto bytes = read_all(**stream, kLargestRequestsFile, unknown ? 0 : size);
  if (!bytes) return fail_with(bytes.error().within(path.string()));
  PaddedText text;
  text.size_ = bytes->size();
  text.bytes_ = std::move(*bytes);
  text.bytes_.resize(text.size_ + simdjson::SIMDJSON_PADDING);
  text.damage_ = (*stream)->damage();
  return text;
}

size_t find_objects(std::string_view text, size_t at, std::vector<std::string_view>& objects) {
  // Within an element that is not an object.
  bool in_other = false;
  uint64_t brackets = 0;
  JsonString string;
  for (; at < text.size() && (text[at] != ']' || brackets > 0 || string.open()); ++at) {
    const char c = text[at];
    if (string.takes(c)) continue;
    if (c == '{') {
      ObjectDepth object;
      const size_t end = walk_object(text, at, object);
      if (object.depth != 0) return text.size();
      if (brackets == 0) objects.push_back(text.substr(at, end - at));
      at = end - 1;
      continue;
    }
    if (c == ',' && brackets == 0) in_other = false;
    if (!is_blank(c) && c != ',' && !std::exchange(in_other, true)) objects.emplace_back();
    if (c == '"') string.begin();
    if (c == '[') ++brackets;
    if (c == ']') --brackets;
  }
  return std::min(at + 1, text.size());
}

std::optional<simdjson::dom::object> ObjectParser::parse(std::string_view json) {
  if (json.empty()) return std::nullopt;
  simdjson::dom::object object;
  auto parsed = parser_.parse(json.data(), json.size(), false);
  if (parsed.error() != simdjson::SUCCESS) {
    plain_ = as_plain_json(json, non_finite_);
    parsed = parser_.parse(plain_);
  }
  if (parsed.get(object) != simdjson::SUCCESS) return std::nullopt;
  return object;
}

}  // namespace llmprof::readers
