#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

namespace llmprof::mcp {

// Members keep their order: answers are read from top to bottom, and lists of tools must not change
// from call to call.
using Json = nlohmann::ordered_json;

// None if the text is not JSON in UTF-8, or nests values deeper than any message needs.
std::optional<Json> parse_json(std::string_view text);

// On one line. Bytes that are not UTF-8 become U+FFFD.
std::string to_line(const Json& value);

// Bytes of what to_line() made when it becomes a JSON string itself, with its quotes.
size_t bytes_as_json(std::string_view line);

// A member of an object; null if there is none, or if `object` is not one.
const Json& member(const Json& object, std::string_view name);

}  // namespace llmprof::mcp
